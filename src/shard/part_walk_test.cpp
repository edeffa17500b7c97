#include "shard/part_walk.h"

#include <gtest/gtest.h>

namespace assay::part_walk_test {
namespace {

/// first (MatMul of x and w) -> ... -> last (MatMul of `in` and w).
struct Chain {
  Chain() {
    const Type type = Type::tensor(DType::kFloat32);
    x = g.add_input("x", type);
    w = g.add_constant("w", Tensor::zeros(DType::kFloat32, {4, 4}));
    bias = g.add_constant("bias", Tensor::zeros(DType::kFloat32, {4}));
    first = g.add_value("first", type);
    g.add_node("MatMul", {x, w}, {first}, {}, "first");
  }
  Value* then(const char* op, std::vector<Value*> inputs) {
    Value* out = g.add_value(g.unique_name(op), Type::tensor(DType::kFloat32));
    g.add_node(op, std::move(inputs), {out}, {}, out->name());
    return out;
  }
  const Node* end(Value* in) {
    Value* y = g.add_value("y", Type::tensor(DType::kFloat32));
    g.outputs = {y};
    return g.add_node("MatMul", {in, w}, {y}, {}, "last");
  }
  PartWalk::Result walk(const Node* end) const {
    const NodeSearch search(g);
    return PartWalk(m, search, {end}).run(first);
  }

  Model m;
  Graph& g = *m.graph;
  Value *x, *w, *bias, *first;
};

TEST(PartWalk, ElementsAndColumnOperands) {
  Chain c;
  const PartWalk::Result r = c.walk(c.end(c.then("Relu", {c.then("Add", {c.first, c.bias})})));
  EXPECT_EQ(r.leak, "");
  EXPECT_EQ(r.not_elementwise, "");
  ASSERT_EQ(r.column_operands.size(), 1u);
  EXPECT_EQ(r.column_operands[0].input, 1u);
}

TEST(PartWalk, BehindAReshapeOperandsAreNoColumns) {
  Chain c;
  const PartWalk::Result r = c.walk(c.end(c.then("Add", {c.then("Reshape", {c.first, c.bias}), c.bias})));
  EXPECT_EQ(r.leak, "");
  EXPECT_EQ(r.not_elementwise, "node 'Reshape' (Reshape) follows");
  EXPECT_TRUE(r.column_operands.empty());
}

TEST(PartWalk, Leaks) {
  Chain normalized, multiplied, out;
  EXPECT_NE(
      normalized
          .walk(normalized.end(normalized.then("LayerNormalization", {normalized.first, normalized.bias})))
          .leak.find("takes it for the whole"),
      std::string::npos);
  multiplied.then("MatMul", {multiplied.first, multiplied.w});
  EXPECT_NE(multiplied.walk(multiplied.end(multiplied.first)).leak, "");
  const Node* last = out.end(out.first);
  out.g.outputs.push_back(out.first);
  EXPECT_EQ(out.walk(last).leak, "'first' is an output of the model");
}

}  // namespace
}  // namespace assay::part_walk_test
