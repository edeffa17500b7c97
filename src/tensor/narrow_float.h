// The floating-point formats of 16 bits and fewer, as templates that compilers turn into vector code.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace assay {

/// A sign bit, kExponentBits and kMantissaBits. Magnitudes (codes without sign) are ordered like their
/// values; kMax is the largest finite one, kOverflow the result beyond it without saturation, kNan the NaN
/// that encode() returns. Formats without negative zero have a single NaN in its
/// place.
template <int ExponentBits, int MantissaBits, int Bias, uint32_t Max, uint32_t Overflow, uint32_t Nan,
          bool HasNegativeZero>
struct NarrowFormat {
  static constexpr int kExponentBits = ExponentBits;
  static constexpr int kMantissaBits = MantissaBits;
  static constexpr int kBias = Bias;
  static constexpr int kBits = 1 + ExponentBits + MantissaBits;
  static constexpr uint32_t kMax = Max;
  static constexpr uint32_t kOverflow = Overflow;
  static constexpr uint32_t kNan = Nan;
  static constexpr bool kHasNegativeZero = HasNegativeZero;
  static constexpr bool kHasInfinity = Overflow == Max + 1 && Nan > Overflow;
};

using Float16Format = NarrowFormat<5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true>;
using BFloat16Format = NarrowFormat<8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true>;
using Float8E4M3FNFormat = NarrowFormat<4, 3, 7, 0x7e, 0x7f, 0x7f, true>;
using Float8E4M3FNUZFormat = NarrowFormat<4, 3, 8, 0x7f, 0x80, 0x80, false>;
using Float8E5M2Format = NarrowFormat<5, 2, 15, 0x7b, 0x7c, 0x7e, true>;
using Float8E5M2FNUZFormat = NarrowFormat<5, 2, 16, 0x7f, 0x80, 0x80, false>;
/// No infinity and no NaN: both directions saturate, and a NaN becomes a zero.
using Float4E2M1Format = NarrowFormat<2, 1, 1, 0x7, 0x7, 0x8, true>;
using Float6E2M3Format = NarrowFormat<2, 3, 1, 0x1f, 0x1f, 0x20, true>;
using Float6E3M2Format = NarrowFormat<3, 2, 3, 0x1f, 0x1f, 0x20, true>;

namespace internal {

template <typename Float>
struct WideFloat;
template <>
struct WideFloat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23, kBias = 127;
};
template <>
struct WideFloat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52, kBias = 1023;
};

/// 2^exponent, for exponents of normal numbers.
template <typename Float>
constexpr Float power_of_two(int exponent) {
  using W = WideFloat<Float>;
  using Bits = typename W::Bits;
  return std::bit_cast<Float>(static_cast<Bits>(exponent + W::kBias) << W::kMantissaBits);
}

}  // namespace internal

/// Rounds a float or double to the format, to nearest, ties to even, in one step. Beyond the largest finite
/// number: that number if `saturate` (infinities too), else kOverflow.
template <typename Format, typename Float>
constexpr uint32_t encode(Float x, bool saturate) {
  using W = internal::WideFloat<Float>;
  using Bits = typename W::Bits;
  constexpr int kShift = W::kMantissaBits - Format::kMantissaBits;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<Float>::infinity());
  constexpr Bits kAbs = std::numeric_limits<Bits>::max() >> 1;

  const Bits bits = std::bit_cast<Bits>(x);
  const Bits magnitude = bits & kAbs;
  const uint32_t sign = static_cast<uint32_t>((bits & ~kAbs) >> (sizeof(Bits) * 8 - Format::kBits));

  Bits code = (magnitude + ((Bits{1} << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1)) >> kShift;
  if constexpr (W::kBias != Format::kBias) {
    constexpr Bits kRebias = static_cast<Bits>(W::kBias - Format::kBias) << Format::kMantissaBits;
    constexpr Float kMinNormal = internal::power_of_two<Float>(1 - Format::kBias);
    // The spacing of numbers near this one is the format's smallest step, so the addition does the rounding.
    constexpr Float kAnchor =
        internal::power_of_two<Float>(1 - Format::kBias - Format::kMantissaBits + W::kMantissaBits);
    const Bits small =
        std::bit_cast<Bits>(std::bit_cast<Float>(magnitude) + kAnchor) - std::bit_cast<Bits>(kAnchor);
    code = magnitude < std::bit_cast<Bits>(kMinNormal) ? small : code - kRebias;
  }
  const uint32_t beyond = saturate ? Format::kMax : Format::kOverflow;
  uint32_t result = code > Format::kMax ? beyond : static_cast<uint32_t>(code);
  result = magnitude > kInfinity ? Format::kNan : result;
  if constexpr (Format::kHasNegativeZero) return result ^ sign;
  return result == 0 || result == Format::kNan ? result : result | sign;
}

/// The exact value of a code.
template <typename Format>
constexpr float decode(uint32_t code) {
  constexpr uint32_t kSign = 1u << (Format::kBits - 1);
  constexpr int kShift = 23 - Format::kMantissaBits;
  const uint32_t magnitude = code & (kSign - 1);
  const uint32_t sign = (code & kSign) << (32 - Format::kBits);
  uint32_t bits = magnitude << kShift;
  if constexpr (Format::kBias != 127) {
    constexpr float kStep = internal::power_of_two<float>(1 - Format::kBias - Format::kMantissaBits);
    const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * kStep;
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - Format::kBias) << 23;
    bits = magnitude < (1u << Format::kMantissaBits) ? std::bit_cast<uint32_t>(small) : bits + kRebias;
  }
  if constexpr (Format::kHasInfinity && Format::kBias != 127)
    bits = magnitude > Format::kMax ? (magnitude << kShift) | 0x7f800000u : bits;
  else if constexpr (!Format::kHasInfinity && Format::kNan < kSign)
    bits = magnitude > Format::kMax ? 0x7fc00000u : bits;
  bits |= sign;
  if constexpr (!Format::kHasNegativeZero) bits = code == kSign ? 0x7fc00000u : bits;
  return std::bit_cast<float>(bits);
}

/// Rounding of a number between two powers of two to float8e8m0 (attribute round_mode of ONNX Cast).
enum class E8M0Rounding : uint8_t {
  kUp,       ///< away from zero
  kDown,     ///< towards zero
  kNearest,  ///< to nearest, ties up
};

/// float8e8m0 holds the powers of two from 2^-127 to 2^127 and NaN. Values out of range (infinity and zero
/// too) are clamped if `saturate`, else become NaN. A negative number becomes NaN.
constexpr uint32_t encode_e8m0(double x, bool saturate, E8M0Rounding rounding) {
  constexpr uint32_t kNan = 0xff, kMax = 0xfe;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t magnitude = bits & (std::numeric_limits<uint64_t>::max() >> 1);
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  if (magnitude > (uint64_t{0x7ff} << 52) || (bits != magnitude && magnitude != 0)) return kNan;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const uint64_t mantissa = magnitude & kMantissa;
  if (rounding == E8M0Rounding::kUp) exponent += mantissa != 0;
  if (rounding == E8M0Rounding::kNearest) exponent += mantissa >= (uint64_t{1} << 51);
  if (exponent > 127) return saturate ? kMax : kNan;
  if (exponent < -127) return saturate ? 0 : kNan;
  return static_cast<uint32_t>(exponent + 127);
}

constexpr float decode_e8m0(uint32_t code) {
  return std::bit_cast<float>(code == 0xff ? 0x7fc00000u : code == 0 ? 0x00400000u : code << 23);
}

}  // namespace assay
