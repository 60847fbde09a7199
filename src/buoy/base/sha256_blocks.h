#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace buoy {

using Sha256State = std::array<std::uint32_t, 8>;

// Takes `count` blocks of 64 bytes into the state of a SHA-256.
using Sha256Blocks = void (*)(Sha256State& state, const std::byte* blocks, std::size_t count);

void sha256_blocks_portable(Sha256State& state, const std::byte* blocks, std::size_t count);

// With the processor's own instructions; null where it has none or this build cannot use them.
Sha256Blocks sha256_blocks_native();

// The fastest of the two.
Sha256Blocks sha256_blocks();

}  // namespace buoy
