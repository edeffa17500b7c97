// For tests of the operators of com.microsoft.
#pragma once

#include "ops/nn/test_tensors.h"

namespace assay {

inline constexpr const char* kMsDomain = "com.microsoft";

inline Tensor run_ms(const char* op, std::vector<Tensor> inputs, AttributeList attributes = {}) {
  return run_op(op, 1, std::move(inputs), std::move(attributes), 1, kMsDomain)[0];
}

inline std::string infer_ms(const char* op, std::vector<InferInput> inputs, AttributeList attributes = {}) {
  return infer_op(op, 1, std::move(inputs), std::move(attributes), 1, kMsDomain).str();
}

/// Inference or evaluation refuses the node, with a message that contains `message`.
inline void expect_ms_refused(const char* op, const std::vector<BadCase>& cases) {
  for (const BadCase& bad : cases) {
    SCOPED_TRACE(std::string(op) + ": " + bad.message);
    expect_error([&] { run_ms(op, bad.inputs, bad.attributes); }, bad.message);
  }
}

inline Type float_type(Dims dims) { return Type::tensor(DType::kFloat32, std::move(dims)); }
inline Type byte_type(Dims dims) { return Type::tensor(DType::kUInt8, std::move(dims)); }
inline Dim named(const char* name) { return Dim::symbol(name); }

/// A tensor of rank 0.
inline Tensor real(double x) { return Tensor::scalar(static_cast<float>(x)); }
inline Tensor byte(int x) { return Tensor::scalar(static_cast<uint8_t>(x)); }

inline Tensor bytes(Shape shape, const std::vector<int>& values) {
  return Tensor::from<uint8_t>(std::move(shape), std::vector<uint8_t>(values.begin(), values.end()));
}

}  // namespace assay
