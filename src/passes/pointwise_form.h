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
  /// 8-bit integers are read and written as float32.
  bool bytes_as_float = false;
};

/// The register that holds elements of this type: float32 for float16 and bfloat16, and for 8-bit integers
/// where `bytes_as_float`; nothing for types that the kernel does not have.
std::optional<DType> register_of(DType dtype, bool bytes_as_float = false);

/// The form of a node (or of a region such as Silu) with one output,
/// by its operator's instruction (OpFacts::pointwise), for that
/// instruction's types (pointwise_ops.def); nothing when there is none.
std::optional<PointwiseForm> pointwise_form(const Node& n, const Model& model);

}  // namespace assay
