// For tests of conversions: one node in a model of its own, evaluated before and after.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert_opset.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "ops/op_set.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay {

using Ints = std::vector<int64_t>;

/// 0, 1, 2, ... less a third.
inline Tensor counted(const Shape& shape, DType dtype = DType::kFloat32) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i) - 1.0F / 3;
  return convert(t, dtype);
}

/// Numbers of both signs within (-2, 2), in no order.
inline Tensor mixed(const Shape& shape, DType dtype = DType::kFloat32) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.mutable_data<float>()[i] = 2 * std::sin(static_cast<float>(i) * 1.7F + 0.3F);
  return convert(t, dtype);
}

inline Tensor int64s(const Ints& values) { return Tensor::vector(values); }
inline Tensor floats(const std::vector<float>& values) { return Tensor::vector(values); }

/// A node's input: fed, constant, or left out (an undefined tensor).
struct TestInput {
  TestInput(Tensor t) : tensor(std::move(t)) {}  // NOLINT: converts on purpose
  Tensor tensor;
  bool is_constant = false;
};
inline TestInput fixed(Tensor t) {
  TestInput in(std::move(t));
  in.is_constant = true;
  return in;
}
inline TestInput missing() { return Tensor(); }

struct OneNode {
  OneNode(const std::string& op, int64_t opset, const std::vector<TestInput>& inputs,
          AttributeList attributes = {}, size_t outputs = 1, const std::string& domain = "") {
    model->opsets = {{"", domain.empty() ? opset : 17}};
    if (!domain.empty()) model->opsets.push_back({domain, opset});
    Graph& g = *model->graph;
    std::vector<Value*> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "in" + std::to_string(i);
      const Tensor& t = inputs[i].tensor;
      if (!t.defined()) {
        in.push_back(nullptr);
      } else if (inputs[i].is_constant) {
        in.push_back(g.add_constant(name, t));
      } else {
        in.push_back(g.add_input(name, Type::tensor(t.dtype(), t.shape())));
        feed.push_back(t);
      }
    }
    for (size_t i = 0; i < outputs; ++i) out.push_back(g.add_value("out" + std::to_string(i)));
    g.add_node(op, in, out, std::move(attributes), "node", domain);
    g.outputs = out;
    infer_shapes(*model);
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  std::vector<Tensor> feed;
};

/// The same node with an input of which the model does not say these extents.
inline OneNode with_open_axes(OneNode node, size_t input, const Ints& axes) {
  Graph& g = *node.model->graph;
  for (const int64_t a : axes) (*g.inputs[input]->type.dims)[static_cast<size_t>(a)] = Dim();
  for (Value* v : g.outputs) v->type = {};
  infer_shapes(*node.model);
  return node;
}

inline std::vector<Tensor> evaluate(const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed) {
  std::vector<Tensor> out(model->graph->outputs.size());
  Interpreter(model).run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < out.size(); ++i)
      if (model->graph->outputs[i] == &v) out[i] = lanes[0];
  });
  return out;
}

/// Every node is a legal use of its operator.
inline void check_graph(const Graph& g, const Model& model) {
  for (const auto& n : g.nodes()) {
    const OpDef* op = built_in_ops().find(n->domain, n->op_type);
    ASSERT_NE(op, nullptr) << n->op_type;
    const OpVersion* version = version_for(*op, model.opset(n->domain));
    ASSERT_NE(version, nullptr) << n->op_type;
    EXPECT_NO_THROW(check_node(*n, *op, *version)) << n->op_type;
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) check_graph(**sub, model);
  }
}

inline std::shared_ptr<Model> converted(const Model& model, int64_t to, const std::string& domain = "") {
  std::shared_ptr<Model> copy = clone_model(model);
  const ConvertReport report = convert_opset(*copy, {.domain = domain, .version = to});
  for (const ConvertProblem& p : report.problems) ADD_FAILURE() << p.str(to);
  EXPECT_EQ(copy->opset(domain), to);
  check_graph(*copy->graph, *copy);
  infer_shapes(*copy);
  return copy;
}

/// Tolerance relative to the larger of 1 and the value; 0: bit for bit.
inline void expect_same_outputs(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                                double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (tolerance == 0) {
      EXPECT_TRUE(a[i].identical(b[i])) << "output " << i;
      continue;
    }
    ASSERT_EQ(a[i].shape(), b[i].shape()) << "output " << i;
    const Tensor x = to_float64(a[i]), y = to_float64(b[i]);
    for (int64_t k = 0; k < x.numel(); ++k) {
      const double p = x.data<double>()[k], q = y.data<double>()[k];
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      EXPECT_LE(std::abs(p - q), tolerance * std::max(1.0, std::abs(p)))
          << "output " << i << " element " << k;
    }
  }
}

/// The node computes the same in opset `to`; `ops` are the operators that then replace it, in order.
inline void expect_same(const OneNode& before, int64_t to, const std::vector<std::string>& ops = {},
                        double tolerance = 0, const std::string& domain = "") {
  SCOPED_TRACE(before.model->graph->nodes()[0]->op_type + " to " + std::to_string(to));
  const std::shared_ptr<Model> after = converted(*before.model, to, domain);
  if (::testing::Test::HasFailure()) return;
  if (!ops.empty()) {
    std::vector<std::string> found;
    for (const auto& n : after->graph->nodes()) found.push_back(n->op_type);
    EXPECT_EQ(found, ops);
  }
  expect_same_outputs(evaluate(before.model, before.feed), evaluate(after, before.feed), tolerance);
}

/// Round trip: bit for bit.
inline void expect_round_trip(const OneNode& before, int64_t there) {
  const std::shared_ptr<Model> model = converted(*before.model, there);
  if (::testing::Test::HasFailure()) return;
  const std::shared_ptr<Model> back = converted(*model, before.model->opset(""));
  expect_same_outputs(evaluate(before.model, before.feed), evaluate(back, before.feed), 0);
}

/// The one sentence that says why the node has no equivalent.
inline std::string refusal(const OneNode& before, int64_t to, const std::string& domain = "") {
  const std::shared_ptr<Model> copy = clone_model(*before.model);
  const ConvertReport report = convert_opset(*copy, {.domain = domain, .version = to});
  EXPECT_EQ(report.problems.size(), 1U);
  return report.problems.empty() ? std::string() : report.problems[0].str(to);
}

}  // namespace assay
