// For tests of the ai.onnx.ml operators.
#pragma once

#include <gtest/gtest.h>

#include "ops/op_test_util.h"

namespace assay {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Strings = std::vector<std::string>;

inline constexpr double kFloatRoundoff = 0x1p-24;

inline std::vector<Tensor> run_ml(std::string_view op, int64_t version, std::vector<Tensor> inputs,
                                  AttributeList attributes, size_t outputs = 1) {
  return run_op(op, version, std::move(inputs), std::move(attributes), outputs, "ai.onnx.ml");
}
inline InferResult infer_ml(std::string_view op, int64_t version, std::vector<InferInput> inputs,
                            AttributeList attributes, size_t outputs = 1) {
  return infer_op(op, version, std::move(inputs), std::move(attributes), outputs, "ai.onnx.ml");
}

/// The bound of output i in float32.
inline Tensor bound_ml(std::string_view op, int64_t version, std::vector<Tensor> inputs,
                       AttributeList attributes, size_t outputs, size_t i) {
  const Tensor y = run_ml(op, version, inputs, attributes, outputs)[i];
  const OpTestNode n(op, version, std::vector<bool>(inputs.size(), true), std::move(attributes), outputs,
                     "ai.onnx.ml");
  EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), std::move(inputs)));
  return n.op().numerics.bound(c, kFloatRoundoff, i, y);
}

/// The attributes with one of them replaced, or added.
inline AttributeList with(AttributeList attributes, const std::string& name, Attribute::Data value) {
  std::erase_if(attributes, [&](const auto& a) { return a.first == name; });
  attributes.emplace_back(name, std::move(value));
  return attributes;
}
inline AttributeList without(AttributeList attributes, const std::string& name) {
  std::erase_if(attributes, [&](const auto& a) { return a.first == name; });
  return attributes;
}

inline void expect_values(const Tensor& t, const Doubles& wanted, double tolerance = 1e-6) {
  ASSERT_EQ(t.dtype(), DType::kFloat64);
  ASSERT_EQ(static_cast<size_t>(t.numel()), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(t.data<double>()[i], wanted[i], tolerance) << "element " << i;
}
inline Strings words(const Tensor& t) {
  const auto s = t.span<std::string>();
  return {s.begin(), s.end()};
}

}  // namespace assay
