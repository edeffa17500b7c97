// Converts exact sums of ConvInteger and MatMulInteger to int32, or by a Cast to float32 with an epilogue.
#pragma once

#include "engine/tactics/product/int8_kernel.h"

namespace assay::engine {

/// A reader of write_integer()'s step, its quantized values and its epilogue. Throw Error (kInvalidModel).
StepReader read_integer_step(const Plan& plan, const Step& step);

Int8Quantized quantized_integers(const StepReader& r);

std::unique_ptr<SumsEnd> integer_end(const StepReader& r, int64_t columns);

inline bool is_byte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }

}  // namespace assay::engine
