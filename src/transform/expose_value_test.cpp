#include "transform/expose_value.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "transform/mark_outputs.h"

namespace assay::expose_value_test {
namespace {

const Type kScalar = Type::tensor(DType::kFloat32, Shape());

Value* add(Graph& g, const char* op, std::vector<Value*> inputs, const char* output,
           AttributeList attributes = {}) {
  Value* v = g.add_value(output);
  g.add_node(op, std::move(inputs), {v}, std::move(attributes), std::string(output) + "_node");
  return v;
}

/// y = x doubled `trips` times, in a Loop; `t` is what each iteration computes. In its body an If computes p
/// or q.
std::shared_ptr<Model> loop_model(int64_t trips) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  Value* x = g.add_input("x", kScalar);
  Value* count = g.add_constant("count", Tensor::scalar(trips));
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  Value* i = body->add_input("i", Type::tensor(DType::kInt64, Shape()));
  Value* condition = body->add_input("c", Type::tensor(DType::kBool, Shape()));
  Value* acc = body->add_input("acc", kScalar);
  Value* t = add(*body, "Add", {acc, acc}, "t");
  Value* one = body->add_constant("one", Tensor::scalar(int64_t{1}));
  Value* is_early = add(*body, "Less", {i, one}, "is_early");
  const auto branch = [&](const char* op, const char* name) {
    auto sub = std::make_shared<Graph>();
    sub->set_parent(body.get());
    sub->outputs = {
        add(*sub, op, {t}, name),
    };
    return sub;
  };
  add(*body, "If", {is_early}, "unused",
      {{"then_branch", branch("Neg", "p")}, {"else_branch", branch("Abs", "q")}});
  body->outputs = {add(*body, "Identity", {condition}, "c_out"), t};
  Value* y = g.add_value("y");
  g.add_node("Loop", {count, nullptr, x}, {y}, {{"body", body}}, "loop");
  g.outputs = {y};
  return m;
}

std::vector<Tensor> evaluate(const std::shared_ptr<Model>& m, const Tensor& x) {
  infer_shapes(*m);
  std::vector<Tensor> outputs(m->graph->outputs.size());
  Interpreter interpreter(m, {.precision = ReferencePrecision::kStored});
  interpreter.run(std::vector<Tensor>{x}, [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < outputs.size(); ++i)
      if (m->graph->outputs[i] == &v) outputs[i] = lanes[0];
  });
  return outputs;
}

TEST(ExposeValue, ALoopGivesAllIterations) {
  const auto m = loop_model(3);
  mark_outputs(*m, std::vector<std::string>{"y", "loop::t", "loop::acc"});
  EXPECT_EQ(m->graph->outputs[1]->name(), "loop::t");
  const std::vector<Tensor> y = evaluate(m, Tensor::scalar(1.0F));
  EXPECT_EQ(y[0].data<float>()[0], 8);
  EXPECT_TRUE(y[1].identical(Tensor::vector<float>({2, 4, 8})));
  EXPECT_TRUE(y[2].identical(Tensor::vector<float>({1, 2, 4})));
}

TEST(ExposeValue, ABranchGivesItsValueOrNothing) {
  for (const bool early : {true, false}) {
    auto m = std::make_shared<Model>();
    m->opsets = {{"", 17}};
    Graph& g = *m->graph;
    Value* x = g.add_input("x", kScalar);
    Value* c = g.add_constant("c", Tensor::scalar(early));
    const auto branch = [&](const char* op, const char* inner, const char* name) {
      auto sub = std::make_shared<Graph>();
      sub->set_parent(&g);
      sub->outputs = {add(*sub, "Abs", {add(*sub, op, {x}, inner)}, name)};
      return sub;
    };
    g.outputs = {
        add(g, "If", {c}, "y",
            {{"then_branch", branch("Neg", "p", "py")}, {"else_branch", branch("Sqrt", "q", "qy")}})};
    mark_outputs(*m, std::vector<std::string>{"y_node::then_branch::p"});
    const Tensor p = evaluate(m, Tensor::scalar(4.0F))[0];
    if (early)
      EXPECT_TRUE(p.identical(Tensor::scalar(-4.0F)));
    else
      EXPECT_EQ(p.numel(), 0);
  }
}

TEST(ExposeValue, RefusesAFunctionsBody) {
  auto m = loop_model(1);
  Function& f = m->functions.emplace_back();
  f.name = "F";
  f.body->add_input("inside", kScalar);
  try {
    Value* inside = f.body->find_value("inside");
    expose_values(*m, std::span(&inside, 1));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("inline the function"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::expose_value_test
