// Sums of doubles without rounding, so that they do not depend on the order in which they are added up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// The exact sum of any finite doubles (at least 2^60 of them), as a fixed-point number that covers the range
/// of the type. Addition is associative and commutative, bit for bit. Not thread-safe.
class ExactSum {
 public:
  /// `x` must be finite.
  void add(double x);
  /// Adds a * b without rounding, except where the product is below 2^-1074 in part. Neither the factors nor
  /// the product may overflow.
  void add_product(double a, double b);
  void add(const ExactSum& other);

  /// The sum rounded to nearest, ties to even; infinite where it exceeds the type.
  double value() const;
  /// The sum as an unevaluated sum of two doubles, the first of which is value(): an error of at most 2^-106
  /// of it.
  struct Pair {
    double high, low;
  };
  Pair pair() const;
  bool is_zero() const;
  bool operator==(const ExactSum& other) const;

  /// The canonical text: `0`, or a sign for negative sums, the weight of the last digit as a power of 2^32,
  /// and the magnitude in hexadecimal, as in -33:1f. Equal sums have equal texts.
  std::string text() const;
  /// Throws Error (kInvalidArgument) for anything but a canonical text.
  static ExactSum parse(std::string_view text);

 private:
  // Digits of 32 bits, the first with the weight 2^-1088; a digit may be any int64 until it is carried.
  static constexpr int kDigits = 70;
  static constexpr int kLowest = -1088;
  using Digits = std::array<int64_t, kDigits>;

  void add_bits(uint64_t mantissa, int shift, bool is_negative);
  static void carry(Digits& digits);
  /// The magnitude with all digits in [0, 2^32), and whether the sum is negative.
  bool magnitude(Digits& digits) const;

  Digits digits_{};
  int32_t pending_ = 0;  ///< additions since the last carry
};

}  // namespace assay
