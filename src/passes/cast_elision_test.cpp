#include "passes/cast_elision.h"

#include <gtest/gtest.h>

#include "assay/edit.h"
#include "assay/fold.h"
#include "tensor/convert.h"

namespace assay::cast_elision_test {
namespace {

class CastElisionTest : public testing::Test {
 protected:
  CastElisionTest() { model.opsets = {{"", 17}}; }
  Value* input(const std::string& name, DType type) { return g.add_input(name, Type::tensor(type, Dims{2})); }
  /// An integer of 0 to `most`, picked out of a constant: ops() does not show that.
  Value* small(const std::string& name, DType type, int64_t most = 100) {
    Value* list = g.add_constant(name + "_list", convert(Tensor::vector<int64_t>({0, most}), type));
    return node("Gather", {list, input(name + "_at", DType::kInt64)}, name, type);
  }
  Value* node(const std::string& op, std::vector<Value*> inputs, const std::string& output, DType type,
              AttributeList attributes = {}) {
    Value* y = g.add_value(output, Type::tensor(type, Dims{2}));
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), output + "_node");
    return y;
  }
  Value* cast(Value* x, const std::string& output, DType to) {
    return node("Cast", {x}, output, to, {{"to", static_cast<int64_t>(to)}});
  }
  std::vector<std::string> ops() {
    elided = elide_shape_casts(g, model);
    cleanup(model);
    std::vector<std::string> list;
    for (const auto& n : g.nodes())
      if (n->op_type != "Gather") list.push_back(n->op_type);
    return list;
  }
  using Ops = std::vector<std::string>;

  Model model;
  Graph& g = *model.graph;
  int64_t elided = 0;
};

constexpr DType kFloat = DType::kFloat32;

class CastElisionTypeTest : public CastElisionTest, public testing::WithParamInterface<DType> {};

TEST_P(CastElisionTypeTest, ArithmeticBetweenCastsWorksOnIntegers) {
  const DType type = GetParam();
  Value *a = cast(small("a", type), "fa", kFloat), *b = cast(small("b", type), "fb", kFloat);
  g.outputs = {cast(node("Add", {a, b}, "sum", kFloat), "y", type)};
  EXPECT_EQ(ops(), Ops{"Add"});
  EXPECT_EQ(elided, 3);
  const Node* add = g.outputs[0]->producer();
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->input(0)->name(), "a");
  EXPECT_EQ(add->output(0)->name(), "y");
}

/// Above 2^24 float32 has not all integers: what may come there is computed as the model says.
TEST_P(CastElisionTypeTest, WhatFloatsWouldRoundStaysFloat) {
  constexpr int64_t kExact = int64_t{1} << 24;
  struct {
    const char* op;
    int64_t a, b;
    bool is_exact;
  } const cases[] = {
      {"Add", kExact - 1, 1, true}, {"Add", kExact, 1, false},     {"Sub", kExact, kExact, true},
      {"Sub", kExact, 0, true},     {"Mul", 4096, 4096, true},     {"Mul", 4097, 4096, false},
      {"Max", kExact, 3, true},     {"Max", kExact + 1, 3, false}, {"Less", kExact + 1, 3, false},
      {"Less", kExact, 3, true},    {"Div", 100, 100, false},      {"Div", 100, -100, false}};
  for (const auto& c : cases) {
    model.graph = std::make_unique<Graph>();
    Graph& graph = *model.graph;
    const auto range = [&](const std::string& name, int64_t most) {
      Value* list = graph.add_constant(name, convert(Tensor::vector<int64_t>({0, most}), GetParam()));
      Value* at = graph.add_input(name + "_at", Type::tensor(DType::kInt64, Dims{2}));
      Value* picked = graph.add_value(name + "_picked", Type::tensor(GetParam(), Dims{2}));
      graph.add_node("Gather", {list, at}, {picked});
      Value* cast = graph.add_value(name + "_cast", Type::tensor(kFloat, Dims{2}));
      graph.add_node("Cast", {picked}, {cast}, {{"to", static_cast<int64_t>(kFloat)}});
      return cast;
    };
    Value* result = graph.add_value("result", Type::tensor(kFloat, Dims{2}));
    graph.add_node(c.op, {range("a", c.a), range("b", c.b)}, {result});
    Value* y = graph.add_value("y", Type::tensor(GetParam(), Dims{2}));
    graph.add_node("Cast", {result}, {y}, {{"to", static_cast<int64_t>(GetParam())}});
    graph.outputs = {y};
    EXPECT_EQ(elide_shape_casts(graph, model) > 0, c.is_exact) << c.op << " " << c.a << " " << c.b;
  }
}

INSTANTIATE_TEST_SUITE_P(Integers, CastElisionTypeTest, testing::Values(DType::kInt32, DType::kInt64));

TEST_F(CastElisionTest, ConstantsOfWholeNumbersAreConvertedOnce) {
  Value* c = g.add_constant("c", Tensor::vector<float>({2, 3}));
  for (const char* name : {"p", "q"}) {
    Value* x = cast(small(std::string("in_") + name, DType::kInt64), std::string("f_") + name, kFloat);
    g.outputs.push_back(cast(node("Mul", {x, c}, std::string("h_") + name, kFloat), name, DType::kInt64));
  }
  EXPECT_EQ(ops(), (Ops{"Mul", "Mul"}));
  const Value* converted = g.outputs[0]->producer()->input(1);
  EXPECT_EQ(converted, g.outputs[1]->producer()->input(1));
  EXPECT_EQ(converted->type.dtype, DType::kInt64);
  EXPECT_EQ(converted->tensor().to_int64(), (std::vector<int64_t>{2, 3}));
}

TEST_F(CastElisionTest, FractionsAndOverridableConstantsStayFloat) {
  Value* half = g.add_constant("half", Tensor::vector<float>({0.5F, 1}));
  Value* given = g.add_constant("given", Tensor::vector<float>({1, 1}));
  given->is_overridable = true;
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Mul", {x, half}, "h", kFloat), "y", DType::kInt64),
               cast(node("Mul", {x, given}, "i", kFloat), "z", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Mul", "Cast", "Mul", "Cast"}));
  EXPECT_EQ(elided, 0);
}

TEST_F(CastElisionTest, AFloatInputThatIsNoCastForbidsIt) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Add", {x, input("f", kFloat)}, "h", kFloat), "y", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Add", "Cast"}));
}

TEST_F(CastElisionTest, SourcesOfTwoTypesForbidIt) {
  Value *a = cast(small("a", DType::kInt32), "fa", kFloat),
        *b = cast(small("b", DType::kInt64), "fb", kFloat);
  g.outputs = {cast(node("Add", {a, b}, "h", kFloat), "y", DType::kInt64)};
  EXPECT_EQ(ops().size(), 4U);
}

TEST_F(CastElisionTest, ACastThatIsUsedElsewhereStaysForThat) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Add", {x, x}, "h", kFloat), "y", DType::kInt64),
               node("Identity", {x}, "same", kFloat)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Add", "Identity"}));
}

TEST_F(CastElisionTest, AFloatResultThatIsUsedForbidsIt) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  Value* h = node("Add", {x, x}, "h", kFloat);
  g.outputs = {cast(h, "y", DType::kInt64), node("Identity", {h}, "same", kFloat)};
  EXPECT_EQ(ops().size(), 4U);
  g.outputs = {g.find_value("y"), h};
  EXPECT_EQ(ops().size(), 3U);
}

TEST_F(CastElisionTest, AFloatResultOfASubgraphForbidsIt) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  Value* h = node("Add", {x, x}, "h", kFloat);
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  branch->outputs = {h};
  Value* z = g.add_value("z");
  g.add_node("If", {input("c", DType::kBool)}, {z}, {{"then_branch", branch}, {"else_branch", branch}});
  g.outputs = {cast(h, "y", DType::kInt64), z};
  EXPECT_EQ(ops(), (Ops{"Cast", "Add", "If", "Cast"}));
}

TEST_F(CastElisionTest, TwoCastsOfOneResultBothKeepAProducer) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  Value* h = node("Add", {x, x}, "h", kFloat);
  g.outputs = {cast(h, "y", DType::kInt64), cast(h, "z", DType::kInt64)};
  ops();
  for (const Value* v : g.outputs) EXPECT_NE(v->producer(), nullptr) << v->name();
}

TEST_F(CastElisionTest, ComparisonsKeepTheCastOfTheirResult) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  Value* less = node("Less", {x, x}, "h", DType::kBool);
  g.outputs = {cast(less, "y", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Less", "Cast"}));
}

TEST_F(CastElisionTest, OperatorsThatHaveNoIntegersYetStayFloat) {
  Value* x = cast(small("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Max", {x, x}, "h", kFloat), "y", DType::kInt64)};
  model.opsets = {{"", 11}};  // Max takes integers from opset 12 on
  EXPECT_EQ(ops().size(), 3U);
  model.opsets = {{"", 12}};
  EXPECT_EQ(ops(), Ops{"Max"});
}

TEST_F(CastElisionTest, DivisorsThatAreNeverZeroDivideIntegers) {
  const auto quotient = [&](const std::string& name, Value* divisor) {
    Value* x = cast(small("x" + name, DType::kInt64), "f" + name, kFloat);
    g.outputs = {cast(node("Div", {x, divisor}, "h" + name, kFloat), "y" + name, DType::kInt64)};
    return ops();
  };
  EXPECT_EQ(quotient("a", g.add_constant("mixed", Tensor::vector<float>({3, -2}))),
            (Ops{"Cast", "Div", "Cast"}))
      << "as a range it holds 0";
  EXPECT_EQ(quotient("b", g.add_constant("five", Tensor::vector<float>({5, 6}))), Ops{"Div"});
  Value* image = g.add_input("image", Type::tensor(kFloat, Dims{7, 9}));
  EXPECT_EQ(quotient("c", cast(node("Shape", {image}, "sizes", DType::kInt64), "fs", kFloat)),
            (Ops{"Shape", "Div"}));
}

TEST_F(CastElisionTest, OpenExtentsMayBeAnything) {
  Value* sizes = node("Shape", {g.add_input("x", Type::tensor(kFloat, Dims{Dim::symbol("n"), 2}))}, "sizes",
                      DType::kInt64);
  Value* f = cast(sizes, "f", kFloat);
  g.outputs = {cast(node("Mul", {f, g.add_constant("two", Tensor::vector<float>({2, 2}))}, "h", kFloat), "y",
                    DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Shape", "Cast", "Mul", "Cast"}));
}

}  // namespace
}  // namespace assay::cast_elision_test
