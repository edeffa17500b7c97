// Converts exact sums of products of 8-bit integers to the result, for operands from a DequantizeLinear.
#pragma once

#include <functional>
#include <optional>

#include "engine/tactics/product/int8_kernel.h"

namespace assay::engine {

/// A reader of a step that write_int8() wrote.
StepReader read_int8_step(const Plan& plan, const Step& step);

/// Its quantized values, and its epilogue. Throw Error (kInvalidModel) if they are invalid.
Int8Quantized int8_quantized(const StepReader& r);

std::unique_ptr<SumsEnd> scaled_end(const StepReader& r, int64_t columns);

struct Int8Fields {
  int64_t least_zero = 0, most_zero = 0;
  float x_scale = 1;
  int64_t x_zero_point = 0;

  void fields(FieldVisitor& visit) {
    visit("x_scale", x_scale);
    visit("x_zero_point", x_zero_point, {least_zero, most_zero});
  }
};

}  // namespace assay::engine
