// Sums of quantized tensors that are quantized again: the additions of residual networks in 8 bits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/pointwise/operand.h"
#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// q[i] = QuantizeLinear(bounded(DequantizeLinear(a[i]) + DequantizeLinear(b[i]))), bitwise equal to these
/// instructions one by one.
class QuantizedAdd {
 public:
  /// The addition that a program computes; nothing
  /// where it is something else, or with unusual sizes.
  static std::optional<QuantizedAdd> of(const PointwiseProgram& program,
                                        std::span<const PointwiseOperand> operands, DType result);

  /// Of `count` adjacent quantized values.
  void run(std::span<const void* const> operands, int64_t count, void* q) const noexcept;

  struct Operand {
    int position;  ///< among the program's operands
    bool is_signed;
    float scale, zero_point;
    std::array<float, 256> reals;  ///< by the bits of the quantized value
  };
  struct Form {
    std::array<Operand, 2> operands;
    float low, high;  ///< bounds of the sum; infinite: none
    float scale, zero_point;
    bool is_signed;
    float distance =
        0;  ///< from a whole number, within which rounding needs no more than one product and sum
  };

 private:
  explicit QuantizedAdd(const Form& form) : form_(form) {}

  Form form_;
};

}  // namespace assay::kernels
