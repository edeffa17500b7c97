#include "graph/export.h"
#include "graph/import.h"
#include "passes/fold_test_util.h"

namespace assay::fold_functions_test {
namespace {

class FoldFunctionTest : public FoldTest {
 protected:
  /// scaled(x) = x * Constant(factor) + (1 + 2)
  Function& add_scaled() {
    Function& f = add_function(model, "scaled");
    Graph& body = *f.body;
    f.attribute_names = {"factor"};
    Value* x = body.add_input("x", {});
    Value *factor = body.add_value("factor"), *one = body.add_value("one"), *three = body.add_value("three"),
          *product = body.add_value("product"), *y = body.add_value("y");
    Node* parameter = body.add_node("Constant", {}, {factor}, {{"value_float", 0.0F}}, "parameter");
    parameter->attributes[0].ref_attr_name = "factor";
    body.add_node("Constant", {}, {one}, {{"value_float", 1.0F}}, "one");
    body.add_node("Add", {one, one}, {three}, {}, "sum");
    body.add_node("Mul", {x, factor}, {product}, {}, "mul");
    body.add_node("Add", {product, three}, {y}, {}, "add");
    body.outputs = {y};
    return f;
  }
};

TEST_F(FoldFunctionTest, CallsOnConstantsFold) {
  const Function& f = add_scaled();
  Value* y = call_function(g, f, {floats("w", {1, 2})}, {}, {.attributes = {{"factor", 3.0F}}})[0];
  g.outputs = {y};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(y), (std::vector<float>{5, 8}));
}

TEST_F(FoldFunctionTest, BodiesKeepParametersAndHoldNoInitializers) {
  const Function& f = add_scaled();
  Value* y =
      call_function(g, f, {input("x", DType::kFloat32, {2})}, {}, {.attributes = {{"factor", 3.0F}}})[0];
  y->type = Type::tensor(DType::kFloat32, Dims{2});
  g.outputs = {y};
  folded_ops({.recurse_functions = false});
  EXPECT_EQ(ops(*f.body).size(), 5U);
  folded_ops();
  EXPECT_EQ(ops(*f.body), (Ops{"Constant", "Constant", "Mul", "Add"}));
  EXPECT_EQ(f.body->nodes()[1]->name, "parameter");
  const auto bytes = std::make_shared<std::string>(serialize_model(model));
  EXPECT_NO_THROW(parse_model(*bytes, bytes, "test"));
}

/// Functions f0, f1, ..., each of which calls the next one so often; the last one calls `last`.
void add_callers(Model& model, int count, int often, const std::string& last) {
  for (int i = 0; i < count; ++i) {
    Function& f = add_function(model, "f" + std::to_string(i));
    Value* v = f.body->add_input("x", {});
    for (int k = 0; k < often; ++k) {
      Value* y = f.body->add_value("y" + std::to_string(k));
      if (i + 1 < count)
        f.body->add_node("f" + std::to_string(i + 1), {v}, {y}, {}, "", f.domain);
      else
        f.body->add_node(last, {v}, {y}, {}, "", last == "f0" ? f.domain : "");
      v = y;
    }
    f.body->outputs = {v};
  }
}

TEST_F(FoldFunctionTest, CallsInCirclesAreNotFolded) {
  add_callers(model, 3, 1, "f0");
  g.outputs = {call_function(g, model.functions[0], {floats("w", {1})})[0]};
  EXPECT_EQ(folded_ops(), Ops{"f0"});
  EXPECT_EQ(report.failed.size(), 1U);
}

TEST_F(FoldFunctionTest, CallsAsDeepAsTheStackOrDoubledAtEachLevelAreNotFolded) {
  for (const auto& [count, often] : {std::pair(50000, 1), std::pair(60, 2)}) {
    model.functions.clear();
    g.outputs.clear();
    g.remove_nodes_if([](const Node&) { return true; });
    add_callers(model, count, often, "Neg");
    const std::string w = "w" + std::to_string(count);
    g.outputs = {call_function(g, model.functions[0], {floats(w, {1})})[0]};
    EXPECT_EQ(folded_ops({.recurse_functions = false}), Ops{"f0"});
    ASSERT_EQ(report.failed.size(), 1U)
        << count << ": "
        << (report.failed.empty() ? "" : report.failed.back().node + ": " + report.failed.back().reason);
  }
}

TEST_F(FoldFunctionTest, CallsThatDrawRandomNumbersAreNotFolded) {
  add_callers(model, 5, 1, "RandomNormalLike");
  g.outputs = {call_function(g, model.functions[0], {floats("w", {1})})[0]};
  EXPECT_EQ(folded_ops(), Ops{"f0"});
  EXPECT_TRUE(report.failed.empty());
}

}  // namespace
}  // namespace assay::fold_functions_test
