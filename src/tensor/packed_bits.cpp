#include "tensor/packed_bits.h"

#include "assay/error.h"

namespace assay {
namespace {

template <int kBits>
void unpack(const uint8_t* stream, int64_t first, std::span<uint8_t> out) {
  constexpr unsigned kMask = (1U << kBits) - 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t bit = (first + static_cast<int64_t>(i)) * kBits;
    const int shift = static_cast<int>(bit % 8);
    unsigned code = static_cast<unsigned>(stream[bit / 8]) >> shift;
    if constexpr (8 % kBits != 0)
      if (shift + kBits > 8) code |= static_cast<unsigned>(stream[bit / 8 + 1]) << (8 - shift);
    out[i] = static_cast<uint8_t>(code & kMask);
  }
}

template <int kBits>
void pack(std::span<const uint8_t> codes, uint8_t* stream) {
  constexpr unsigned kMask = (1U << kBits) - 1;
  unsigned gathered = 0;
  int held = 0;
  for (const uint8_t code : codes) {
    gathered |= (code & kMask) << held;
    held += kBits;
    if (held < 8) continue;
    *stream++ = static_cast<uint8_t>(gathered);
    gathered >>= 8;
    held -= 8;
  }
  if (held > 0) *stream = static_cast<uint8_t>(gathered);
}

[[noreturn]] void wrong_width(int bits) {
  fail(ErrorCode::kInternal, "no elements are packed as {} bits", bits);
}

}  // namespace

void unpack_bits(const uint8_t* stream, int64_t first, int bits, std::span<uint8_t> out) {
  switch (bits) {
    case 2:
      return unpack<2>(stream, first, out);
    case 4:
      return unpack<4>(stream, first, out);
    case 6:
      return unpack<6>(stream, first, out);
    default:
      wrong_width(bits);
  }
}

void pack_bits(std::span<const uint8_t> codes, int bits, uint8_t* stream) {
  switch (bits) {
    case 2:
      return pack<2>(codes, stream);
    case 4:
      return pack<4>(codes, stream);
    case 6:
      return pack<6>(codes, stream);
    default:
      wrong_width(bits);
  }
}

}  // namespace assay
