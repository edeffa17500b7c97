#include "passes/cast_elision.h"

#include <gtest/gtest.h>

#include "assay/edit.h"
#include "assay/fold.h"

namespace assay::cast_elision_test {
namespace {

class CastElisionTest : public testing::Test {
 protected:
  CastElisionTest() { model.opsets = {{"", 17}}; }
  Value* input(const std::string& name, DType type) { return g.add_input(name, Type::tensor(type, Dims{2})); }
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
    for (const auto& n : g.nodes()) list.push_back(n->op_type);
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
  Value *a = cast(input("a", type), "fa", kFloat), *b = cast(input("b", type), "fb", kFloat);
  g.outputs = {cast(node("Add", {a, b}, "sum", kFloat), "y", type)};
  EXPECT_EQ(ops(), Ops{"Add"});
  EXPECT_EQ(elided, 3);
  EXPECT_EQ(g.nodes()[0]->input(0)->name(), "a");
  EXPECT_EQ(g.nodes()[0]->output(0)->name(), "y");
}

INSTANTIATE_TEST_SUITE_P(Integers, CastElisionTypeTest, testing::Values(DType::kInt32, DType::kInt64));

TEST_F(CastElisionTest, ConstantsOfWholeNumbersAreConvertedOnce) {
  Value* c = g.add_constant("c", Tensor::vector<float>({2, 3}));
  for (const char* name : {"p", "q"}) {
    Value* x = cast(input(std::string("in_") + name, DType::kInt64), std::string("f_") + name, kFloat);
    g.outputs.push_back(cast(node("Mul", {x, c}, std::string("h_") + name, kFloat), name, DType::kInt64));
  }
  EXPECT_EQ(ops(), (Ops{"Mul", "Mul"}));
  const Value* converted = g.nodes()[0]->input(1);
  EXPECT_EQ(converted, g.nodes()[1]->input(1));
  EXPECT_EQ(converted->type.dtype, DType::kInt64);
  EXPECT_EQ(converted->tensor().to_int64(), (std::vector<int64_t>{2, 3}));
}

TEST_F(CastElisionTest, FractionsAndOverridableConstantsStayFloat) {
  Value* half = g.add_constant("half", Tensor::vector<float>({0.5F, 1}));
  Value* given = g.add_constant("given", Tensor::vector<float>({1, 1}));
  given->is_overridable = true;
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Mul", {x, half}, "h", kFloat), "y", DType::kInt64),
               cast(node("Mul", {x, given}, "i", kFloat), "z", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Mul", "Cast", "Mul", "Cast"}));
  EXPECT_EQ(elided, 0);
}

TEST_F(CastElisionTest, AFloatInputThatIsNoCastForbidsIt) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Add", {x, input("f", kFloat)}, "h", kFloat), "y", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Add", "Cast"}));
}

TEST_F(CastElisionTest, SourcesOfTwoTypesForbidIt) {
  Value *a = cast(input("a", DType::kInt32), "fa", kFloat),
        *b = cast(input("b", DType::kInt64), "fb", kFloat);
  g.outputs = {cast(node("Add", {a, b}, "h", kFloat), "y", DType::kInt64)};
  EXPECT_EQ(ops().size(), 4U);
}

TEST_F(CastElisionTest, ACastThatIsUsedElsewhereStaysForThat) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Add", {x, x}, "h", kFloat), "y", DType::kInt64),
               node("Identity", {x}, "same", kFloat)};
  EXPECT_EQ(ops(), (Ops{"Cast", "Add", "Identity"}));
}

TEST_F(CastElisionTest, AFloatResultThatIsUsedForbidsIt) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  Value* h = node("Add", {x, x}, "h", kFloat);
  g.outputs = {cast(h, "y", DType::kInt64), node("Identity", {h}, "same", kFloat)};
  EXPECT_EQ(ops().size(), 4U);
  g.outputs = {g.find_value("y"), h};
  EXPECT_EQ(ops().size(), 3U);
}

TEST_F(CastElisionTest, AFloatResultOfASubgraphForbidsIt) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
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
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  Value* h = node("Add", {x, x}, "h", kFloat);
  g.outputs = {cast(h, "y", DType::kInt64), cast(h, "z", DType::kInt64)};
  ops();
  for (const Value* v : g.outputs) EXPECT_NE(v->producer(), nullptr) << v->name();
}

TEST_F(CastElisionTest, ComparisonsKeepTheCastOfTheirResult) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  Value* less = node("Less", {x, x}, "h", DType::kBool);
  g.outputs = {cast(less, "y", DType::kInt64)};
  EXPECT_EQ(ops(), (Ops{"Less", "Cast"}));
}

TEST_F(CastElisionTest, OperatorsThatHaveNoIntegersYetStayFloat) {
  Value* x = cast(input("x", DType::kInt64), "fx", kFloat);
  g.outputs = {cast(node("Max", {x, x}, "h", kFloat), "y", DType::kInt64)};
  model.opsets = {{"", 11}};  // Max takes integers from opset 12 on
  EXPECT_EQ(ops().size(), 3U);
  model.opsets = {{"", 12}};
  EXPECT_EQ(ops(), Ops{"Max"});
}

}  // namespace
}  // namespace assay::cast_elision_test
