// For tests of operators: random tensors, their elements, and an error's message.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ops/op_test_util.h"

namespace assay {

using Ints = std::vector<int64_t>;
using Values = std::vector<double>;

/// Uniform in [-1, 1); the same for the same seed.
inline Tensor random_tensor(Shape shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Tensor t = Tensor::allocate(DType::kFloat64, std::move(shape));
  for (double& x : t.mutable_span<double>()) x = uniform(generator);
  return t;
}

inline Values values(const Tensor& t) { return Values(t.span<double>().begin(), t.span<double>().end()); }

inline void expect_near(const Tensor& got, const Tensor& wanted, double tolerance,
                        const std::string& what = {}) {
  ASSERT_EQ(got.shape().dims(), wanted.shape().dims()) << what;
  for (int64_t i = 0; i < got.numel(); ++i)
    ASSERT_NEAR(got.data<double>()[i], wanted.data<double>()[i], tolerance) << what << " at " << i;
}

/// The elements [first, last) along an axis.
inline Tensor slice(const Tensor& t, size_t axis, int64_t first, int64_t last) {
  const int64_t outer = t.shape().numel(0, axis), inner = t.shape().numel(axis + 1, t.shape().size());
  Shape shape = t.shape();
  shape[axis] = last - first;
  Tensor out = Tensor::allocate(DType::kFloat64, shape);
  double* to = out.mutable_data<double>();
  for (int64_t o = 0; o < outer; ++o)
    to = std::copy_n(t.data<double>() + (o * t.dim(axis) + first) * inner, (last - first) * inner, to);
  return out;
}

/// The tensor with its dimensions in another order.
inline Tensor transposed(const Tensor& t, const Ints& order) {
  return run_op("Transpose", 13, {t}, {{"perm", order}})[0];
}

/// Fails unless the call throws Error whose message contains `message`.
template <typename F>
void expect_error(F call, const std::string& message) {
  try {
    call();
    FAIL() << "accepted: " << message;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

/// Nodes that inference and evaluation must both refuse.
struct BadCase {
  std::vector<Tensor> inputs;
  AttributeList attributes;
  const char* message;
};

inline void expect_refused(const char* op, int64_t opset, const std::vector<BadCase>& cases) {
  for (const BadCase& bad : cases) {
    SCOPED_TRACE(std::string(op) + ": " + bad.message);
    std::vector<bool> present;
    std::vector<InferInput> types;
    for (const Tensor& t : bad.inputs) {
      present.push_back(t.defined());
      types.push_back(t.defined() ? InferInput(t) : InferInput::missing());
    }
    expect_error([&] { infer_op(op, opset, types, bad.attributes); }, bad.message);
    expect_error(
        [&] {
          const OpTestNode n(op, opset, present, bad.attributes, 1, "");
          EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), bad.inputs));
          n.version().eval(c);
        },
        bad.message);
  }
}

/// The bound of output i for an arithmetic of unit roundoff u.
inline Tensor custom_bound(const char* op, int64_t opset, const std::vector<Tensor>& inputs,
                           const AttributeList& attributes, double u, size_t i = 0, size_t outputs = 1) {
  std::vector<bool> present;
  for (const Tensor& t : inputs) present.push_back(t.defined());
  const OpTestNode n(op, opset, present, attributes, outputs, "");
  EvalContext c(n.node(), n.op(), n.version(), inputs);
  n.version().eval(c);
  const Tensor y = c.outputs()[i];
  return n.op().numerics.bound(c, u, i, y);
}

/// (terms + ulps) u m for output i of an accumulating operator.
inline Tensor accumulated_bound(const char* op, int64_t opset, const std::vector<Tensor>& inputs,
                                const AttributeList& attributes, double u, size_t i = 0, size_t outputs = 1) {
  const OpTestNode n(op, opset, std::vector<bool>(inputs.size(), true), attributes, outputs, "");
  EvalContext c(n.node(), n.op(), n.version(), inputs);
  const double factor = (static_cast<double>(n.op().numerics.terms(c)) + n.op().numerics.ulps) * u;
  n.op().numerics.magnitude(c);
  Tensor m = c.outputs()[i];
  for (double& x : m.mutable_span<double>()) x *= factor;
  return m;
}

}  // namespace assay
