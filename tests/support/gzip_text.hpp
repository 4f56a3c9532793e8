// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <zlib.h>

namespace vtrain::test {

/// `text` as a gzip file's bytes.
inline std::string gzip_text(std::string text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib does not start");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int answer = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (answer != Z_STREAM_END)
    throw std::runtime_error("zlib does not finish");
  return out;
}

} // namespace vtrain::test
