// SPDX-License-Identifier: MIT
#include "common/diagnostics.hpp"
#include "common/file.hpp"

#include <algorithm>
#include <limits>
#include <zlib.h>

namespace vtrain {
namespace {

/// One zlib state that is freed whatever happens.
class Inflater {
public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK)
      throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
  z_stream stream{};
};

uInt clipped(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

} // namespace

std::string gunzip(std::string_view bytes, const std::filesystem::path& file) {
  const auto damaged = [&](const char* message) { return InputError({file.string(), 0, 0}, message); };
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string out;
  std::size_t made = 0;
  std::size_t used = 0;
  for (;;) {
    if (made == out.size())
      out.resize(std::max<std::size_t>(out.size() * 2, bytes.size() * 4 + 4096));
    // zlib's interface predates const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + used));
    stream.avail_in = clipped(bytes.size() - used);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = clipped(out.size() - made);
    const uInt offered = stream.avail_in;
    const uInt room = stream.avail_out;
    const int state = inflate(&stream, Z_NO_FLUSH);
    used += offered - stream.avail_in;
    made += room - stream.avail_out;
    if (state == Z_STREAM_END) {
      const std::string_view rest = bytes.substr(used);
      if (rest.find_first_not_of('\0') == std::string_view::npos) // tapes and blocks pad with zeros
        break;
      if (!is_gzip(rest))
        throw damaged("something follows the gzip data; is the file damaged?");
      inflateReset(&stream);
    } else if (state == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (state != Z_OK && !(state == Z_BUF_ERROR && stream.avail_out == 0)) {
      throw damaged(state == Z_BUF_ERROR ? "the gzip data is cut off" : "the gzip data is damaged");
    } else if (used == bytes.size() && stream.avail_out != 0) {
      throw damaged("the gzip data is cut off");
    }
  }
  out.resize(made);
  return out;
}

} // namespace vtrain
