// Sums and products of two quantized tensors that are quantized again: the additions of residual networks in
// 8 bits, and images whose channels are weighted by a gate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/pointwise/operand.h"
#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// q[i] = QuantizeLinear(bounded(DequantizeLinear(a[i]) + DequantizeLinear(b[i]))), or of the product of the
/// two, bitwise equal to these instructions one by one.
class QuantizedPair {
 public:
  /// The meaning of a program; nothing where it is something else, or with unusual sizes. `first`: the
  /// operand that run() and run_rows() are given as `a`, where there are two.
  static std::optional<QuantizedPair> of(const PointwiseProgram& program,
                                         std::span<const PointwiseOperand> operands, DType result,
                                         int first = 0);

  /// Of `count` adjacent values of both.
  void run(const void* a, const void* b, int64_t count, void* q) const noexcept;
  /// Of adjacent rows of a, each with the same row of b.
  void run_rows(const void* a, const void* b, int64_t rows, int64_t columns, void* q) const noexcept;

  struct Operand {
    int position;  ///< among the program's operands
    bool is_signed;
    float scale, zero_point;
    std::array<float, 256> reals;  ///< by the bits of the quantized value
  };
  /// Sums in whole numbers, of values as if they were unsigned (128 is added to those of int8): the level is
  /// (factors[0] * a + factors[1] * b + start) >> bits, unless the bits that go are below `doubtful`: then
  /// a tie is near.
  struct WholeSums {
    std::array<int32_t, 2> factors;
    int32_t start, doubtful;
    int bits;  ///< 0: sums are not computed so
  };
  struct Form {
    bool is_product;
    std::array<Operand, 2> operands;
    float low, high;  ///< bounds of the sum or product; infinite: none
    float scale, zero_point;
    bool is_signed;
    /// From a whole number, within which rounding needs no more than one product and sum.
    float distance = 0;
    WholeSums whole{};
  };

 private:
  explicit QuantizedPair(const Form& form) : form_(form) {}

  Form form_;
};

}  // namespace assay::kernels
