// SPDX-License-Identifier: MIT
#include "common/diagnostics.hpp"
#include "common/file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <zlib.h>

using namespace vtrain;

namespace {
std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
} // namespace

TEST_CASE("gzip is known by its first two bytes") {
  CHECK(is_gzip(gzip("x")));
  CHECK_FALSE(is_gzip("job_id"));
  CHECK_FALSE(is_gzip("\x1f"));
  CHECK_FALSE(is_gzip(""));
}

TEST_CASE("a gzip stream is unpacked") {
  CHECK(gunzip(gzip("job_id\n1\n"), "t.gz") == "job_id\n1\n");
  CHECK(gunzip(gzip(""), "t.gz").empty());
  const std::string zeros(20'000'000, 'z'); // far more than its packed size suggests
  CHECK(gunzip(gzip(zeros), "t.gz") == zeros);
}

TEST_CASE("all members of a gzip file are unpacked") {
  CHECK(gunzip(gzip("one\n") + gzip("") + gzip("two\n"), "t.gz") == "one\ntwo\n");
}

TEST_CASE("zeros after the last member are padding, anything else is damage") {
  CHECK(gunzip(gzip("one") + std::string(512, '\0'), "t.gz") == "one");
  CHECK_THROWS_WITH_AS((void)gunzip(gzip("one") + "rest", "t.gz"),
                       "t.gz: error: something follows the gzip data; is the file damaged?", InputError);
}

TEST_CASE("gzip data cut off at any byte is refused") {
  std::string noise;
  for (unsigned i = 0; i < 300; ++i)
    noise += static_cast<char>(i * i * 31U % 251U);
  const std::string packed = gzip(noise) + gzip("second member");
  const std::size_t whole_first = gzip(noise).size();
  for (std::size_t length = 2; length < packed.size(); ++length) {
    if (length == whole_first)
      continue; // a whole file
    CAPTURE(length);
    CHECK_THROWS_AS((void)gunzip(packed.substr(0, length), "t.gz"), InputError);
  }
  CHECK_THROWS_WITH_AS((void)gunzip(packed.substr(0, 30), "t.gz"), "t.gz: error: the gzip data is cut off",
                       InputError);
}

TEST_CASE("damaged gzip data is refused") {
  std::string packed = gzip("some text that is long enough to be damaged in the middle");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 0x55); // the checksum
  CHECK_THROWS_WITH_AS((void)gunzip(packed, "t.gz"), "t.gz: error: the gzip data is damaged", InputError);
}
