#include "engine/tactics/pointwise/region.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/tactics/tactic_set.h"
#include "ops/op_set.h"
#include "ops/schema.h"

namespace assay::engine::region_test {
namespace {

struct Network {
  Network() { model.opsets = {{"", built_in_ops().newest_opset("")}}; }
  const Node& node(std::string_view op, std::vector<Value*> in) {
    Value* y =
        model.graph->add_value(model.graph->unique_name("v"), Type::tensor(DType::kFloat32, Shape({4})));
    return *model.graph->add_node(std::string(op), std::move(in), {y});
  }
  Model model;
  Value* x = model.graph->add_input("x", Type::tensor(DType::kFloat32, Shape({4})));
  Value* z = model.graph->add_input("z", Type::tensor(DType::kFloat32, Shape({4})));
};

bool gives_float(const OpDef& op) {
  const Schema& schema = schema_of(op.versions.back());
  for (const assay::Parameter* p : {schema.input(0), schema.output(0)}) {
    if (p == nullptr) return false;
    const std::vector<std::string> types = schema.allowed_types(*p);
    if (std::find(types.begin(), types.end(), "float") == types.end()) return false;
  }
  return schema.min_inputs() == 1;
}

/// By its fact alone: no list of activations knows it.
TEST(Region, EveryActivationIsAnEpilogueAndHasThePointwiseTactic) {
  int count = 0;
  for (const OpDef* op : built_in_ops().all()) {
    if (!op->domain.empty() || op->facts.elementwise != 1 || !op->facts.pointwise.op || !gives_float(*op))
      continue;
    SCOPED_TRACE(op->name);
    ++count;
    Network n;
    const Node& node = n.node(op->name, {n.x});
    const std::optional<EpilogueStep> step = epilogue_step(node, n.x, n.model);
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->operand, nullptr);
    const Region region = node_region(node);
    const std::vector<const TacticDef*> tactics = built_in_tactics().for_region(region, n.model);
    EXPECT_TRUE(std::ranges::any_of(tactics, [](const TacticDef* t) { return t->name == "pointwise"; }));
  }
  EXPECT_GE(count, 38);
}

TEST(Region, OperandsOfEpilogues) {
  Network n;
  for (const char* op : {"Add", "Mul"}) {
    const Node& node = n.node(op, {n.z, n.x});
    ASSERT_TRUE(epilogue_step(node, n.x, n.model).has_value()) << op;
    EXPECT_EQ(epilogue_step(node, n.x, n.model)->operand, n.z);
  }
  EXPECT_FALSE(epilogue_step(n.node("Sub", {n.z, n.x}), n.x, n.model).has_value());
  EXPECT_FALSE(epilogue_step(n.node("Mul", {n.x, n.x}), n.x, n.model).has_value());
}

TEST(Region, ProductsByTheirFact) {
  Network n;
  EXPECT_TRUE(is_main_operator(n.node("Gemm", {n.x, n.z}), n.model));
  EXPECT_TRUE(is_integer_product(n.node("MatMulInteger", {n.x, n.z}), n.model));
  EXPECT_FALSE(is_integer_product(n.node("MatMul", {n.x, n.z}), n.model));
  EXPECT_FALSE(is_main_operator(n.node("Add", {n.x, n.z}), n.model));
}

/// A tactic that serves operators by a fact is asked in the order of the list, as those that name them are.
TEST(Region, TacticsComeInTheOrderOfTheList) {
  Network n;
  for (const OpDef* op : built_in_ops().all()) {
    if (!op->domain.empty()) continue;
    const Region region = node_region(n.node(op->name, {n.x}));
    const auto tactics = built_in_tactics().for_region(region, n.model);
    const auto all = built_in_tactics().all();
    size_t last = 0;
    for (size_t i = 0; i + 1 < tactics.size(); ++i) {
      const auto at = static_cast<size_t>(std::find(all.begin(), all.end(), tactics[i]) - all.begin());
      EXPECT_TRUE(i == 0 || at > last) << op->name;
      last = at;
    }
  }
}

}  // namespace
}  // namespace assay::engine::region_test
