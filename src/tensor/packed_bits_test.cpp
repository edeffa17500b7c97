#include "tensor/packed_bits.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::packed_bits_test {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(PackedBits, SixBitsFillThreeBytesWithFourElements) {
  Bytes stream(5, 0xaa);
  pack_bits(Bytes{0x01, 0x3f, 0x20, 0x15, 0xff}, 6, stream.data());  // of the last only the low bits count
  EXPECT_EQ(stream, (Bytes{0xc1, 0x0f, 0x56, 0x3f, 0xaa}));
  Bytes back(5);
  unpack_bits(stream.data(), 0, 6, back);
  EXPECT_EQ(back, (Bytes{0x01, 0x3f, 0x20, 0x15, 0x3f}));
}

TEST(PackedBits, StartsAtAnyElement) {
  for (const int bits : {2, 4, 6}) {
    Bytes codes(37);
    for (size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<uint8_t>((i * 29 + 3) & ((1U << bits) - 1));
    Bytes stream((codes.size() * static_cast<size_t>(bits) + 7) / 8);
    pack_bits(codes, bits, stream.data());
    for (size_t first = 0; first <= codes.size(); ++first) {
      Bytes rest(codes.size() - first);
      unpack_bits(stream.data(), static_cast<int64_t>(first), bits, rest);
      EXPECT_EQ(rest, Bytes(codes.begin() + static_cast<std::ptrdiff_t>(first), codes.end()))
          << bits << " " << first;
    }
  }
}

}  // namespace
}  // namespace assay::packed_bits_test
