// Every operator of the table that states a fact is treated accordingly by the passes that ask for it, so
// that none is forgotten: new operators take part by their facts alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/op_set.h"
#include "ops/schema.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/pointwise_form.h"

namespace assay::facts_in_passes_test {
namespace {

bool allows(const Schema& schema, const Parameter* p, const char* type) {
  if (p == nullptr) return false;
  const std::vector<std::string> types = schema.allowed_types(*p);
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Operators of the standard that take and give float32, and whose further inputs may be left out.
std::vector<const OpDef*> operators(const std::function<bool(const OpFacts&)>& holds, int inputs) {
  std::vector<const OpDef*> list;
  for (const OpDef* op : built_in_ops().all()) {
    const Schema& schema = schema_of(op->versions.back());
    if (op->domain.empty() && holds(op->facts) && schema.min_inputs() <= inputs &&
        schema.max_inputs() >= inputs && allows(schema, schema.input(0), "float") && !op->facts.recodes)
      list.push_back(op);
  }
  return list;
}

struct Network {
  Network() { model.opsets = {{"", built_in_ops().newest_opset("")}}; }
  Value* node(std::string_view op, std::vector<Value*> in, DType dtype = DType::kFloat32,
              AttributeList attributes = {}, const char* name = "v") {
    Value* y = g.add_value(g.unique_name(name), Type::tensor(dtype, Shape({4, 4})));
    g.add_node(std::string(op), std::move(in), {y}, std::move(attributes));
    return y;
  }
  std::string run(const PassDef& pass) {
    const PassDef* passes[] = {&pass};
    run_passes(model, passes);
    std::string text;
    for (const auto& n : g.nodes()) text += (text.empty() ? "" : " ") + n->op_type;
    return text;
  }
  Model model;
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape({4, 4})));
  Value* z = g.add_input("z", Type::tensor(DType::kFloat32, Shape({4, 4})));
};

DType result_of(const OpDef& op) {
  const Schema& schema = schema_of(op.versions.back());
  return allows(schema, schema.output(0), "float") ? DType::kFloat32 : DType::kBool;
}

TEST(FactsInPasses, TranspositionsGoThroughEveryFunctionOfOneElement) {
  const auto list = operators([](const OpFacts& f) { return f.elementwise == 1; }, 1);
  EXPECT_GE(list.size(), 42U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    const AttributeList perm = {{"perm", std::vector<int64_t>{1, 0}}};
    Value* a = n.node("Transpose", {n.x}, DType::kFloat32, perm);
    Value* b = n.node(op->name, {a}, result_of(*op));
    n.g.outputs = {n.node("Transpose", {b}, result_of(*op), perm, "y")};
    EXPECT_EQ(n.run(pass_sink_transposes::def), std::string(op->name));
  }
}

TEST(FactsInPasses, TranspositionsGoThroughOperatorsOfTwo) {
  const auto of_two = [](const OpFacts& f) { return f.elementwise == 2 || f.elementwise == kEveryInput; };
  const auto list = operators(of_two, 2);
  EXPECT_GE(list.size(), 15U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    const AttributeList perm = {{"perm", std::vector<int64_t>{1, 0}}};
    Value* row = n.g.add_constant("row", Tensor::vector<float>({1, 2, 3, 4}));
    Value* a = n.node("Transpose", {n.x}, DType::kFloat32, perm);
    Value* b = n.node(op->name, {a, row}, result_of(*op));
    n.g.outputs = {n.node("Transpose", {b}, result_of(*op), perm, "y")};
    EXPECT_EQ(n.run(pass_sink_transposes::def), std::string(op->name));
  }
}

TEST(FactsInPasses, CommutativeOperatorsAreFoundInEitherOrder) {
  const auto list = operators([](const OpFacts& f) { return f.commutative; }, 2);
  EXPECT_GE(list.size(), 7U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    Value *a = n.node(op->name, {n.x, n.z}, result_of(*op)),
          *b = n.node(op->name, {n.z, n.x}, result_of(*op));
    n.g.outputs = {n.node("Identity", {a}, result_of(*op)), n.node("Identity", {b}, result_of(*op))};
    EXPECT_EQ(n.run(pass_eliminate_common_subexpressions::def)
                  .find(std::string(op->name) + " " + std::string(op->name)),
              std::string::npos);
  }
  // The order of others counts.
  Network n;
  n.g.outputs = {n.node("Neg", {n.node("Sub", {n.x, n.z})}), n.node("Abs", {n.node("Sub", {n.z, n.x})})};
  EXPECT_EQ(n.run(pass_eliminate_common_subexpressions::def), "Sub Neg Sub Abs");
}

TEST(FactsInPasses, IdempotentOperatorsAreDoneOnce) {
  const auto list = operators([](const OpFacts& f) { return f.idempotent; }, 1);
  EXPECT_EQ(list.size(), 6U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    n.g.outputs = {n.node("Neg", {n.node(op->name, {n.node(op->name, {n.x})})})};
    EXPECT_EQ(n.run(pass_eliminate_idempotent::def), std::string(op->name) + " Neg");
  }
}

TEST(FactsInPasses, ReluBehindWhatIsNeverNegativeGoes) {
  const auto list = operators([](const OpFacts& f) { return f.sign != SignOfResult::kAny; }, 1);
  EXPECT_GE(list.size(), 8U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    n.g.outputs = {n.node("Neg", {n.node("Relu", {n.node(op->name, {n.x})})})};
    EXPECT_EQ(n.run(pass_eliminate_idempotent::def), std::string(op->name) + " Neg");
  }
}

TEST(FactsInPasses, NothingIsAddedToWhatIsNeverMinusZero) {
  const auto list = operators([](const OpFacts& f) { return f.sign == SignOfResult::kPositive; }, 1);
  EXPECT_GE(list.size(), 5U);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    Value* zero = n.g.add_constant("zero", Tensor::scalar(0.0F));
    n.g.outputs = {n.node("Neg", {n.node("Add", {n.node(op->name, {n.x}), zero})})};
    EXPECT_EQ(n.run(pass_eliminate_neutral::def), std::string(op->name) + " Neg");
  }
}

/// Every function of one float32 that the engine has an instruction for may follow a product in one go.
TEST(FactsInPasses, EveryFunctionHasAnInstruction) {
  const auto list = operators([](const OpFacts& f) { return f.elementwise == 1; }, 1);
  for (const OpDef* op : list) {
    SCOPED_TRACE(op->name);
    Network n;
    const Value* y = n.node(op->name, {n.x}, result_of(*op));
    EXPECT_EQ(pointwise_form(*y->producer(), n.model).has_value(), op->name != "Identity");
  }
}

}  // namespace
}  // namespace assay::facts_in_passes_test
