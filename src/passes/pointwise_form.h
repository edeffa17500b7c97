// ONNX operators as instructions of the pointwise kernel.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"
#include "kernels/pointwise/program.h"

namespace assay {

/// result = op(operands) with the parameters a and b. A constant of one element that the instruction takes as
/// a parameter is not an operand.
struct PointwiseForm {
  kernels::PointwiseOp op;
  float a = 0, b = 0;
  std::vector<Value*> operands;
};

/// The form of a node (or of a region such as Silu) with one output, float32 in and float32 or bool out;
/// nothing when it has none. Operands of Where, Cast, comparisons and logic may be bool; Cast takes int32 and
/// int64 too, and float16 and bfloat16 in both directions; QuantizeLinear gives uint8 and int8, which
/// DequantizeLinear takes.
std::optional<PointwiseForm> pointwise_form(const Node& n);

}  // namespace assay
