// SPDX-License-Identifier: MIT
#include "common/sha256.hpp"

#include <array>
#include <cstdint>
#include <sha2.h>

namespace vtrain {

std::string sha256(std::string_view data) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(data.data()), data.size(), text.data());
  return text.data();
}

} // namespace vtrain
