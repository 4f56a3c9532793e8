// SPDX-License-Identifier: MIT
#include "common/sha256.hpp"

#include <doctest/doctest.h>

#include <array>
#include <sha2.h>
#include <string>
#include <sys/types.h>

using vtrain::sha256;

TEST_CASE("SHA-256 gives the known answers of FIPS 180-4") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the fast path agrees with libmd at every length around whole blocks") {
  std::string data;
  for (int length = 0; length < 400; ++length) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> expected{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(data.data()), data.size(), expected.data());
    CAPTURE(length);
    CHECK(sha256(data) == expected.data());
    data += static_cast<char>(length * 7);
  }
}
