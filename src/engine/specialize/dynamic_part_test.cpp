#include "engine/specialize/dynamic_part.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/infer.h"
#include "passes/region.h"

namespace assay::engine::dynamic_part_test {
namespace {

class DynamicPart : public testing::Test {
 protected:
  DynamicPart() : g_(*model_->graph) {
    model_->opsets.push_back({"", 17});
    x_ = input("x", DType::kFloat32, Shape{64, 8});
    weights_ = g_.add_constant("w", Tensor::zeros(DType::kFloat32, Shape{8, 8}));
    axis_ = g_.add_constant("axis", Tensor::from<int64_t>(Shape{1}, {-1}));
  }

  Value* input(const std::string& name, DType dtype, const Shape& shape) {
    Value* v = g_.add_value(name, Type::tensor(dtype, shape));
    g_.inputs.push_back(v);
    return v;
  }
  Value* node(const std::string& op, std::vector<Value*> inputs) {
    Value* out = g_.add_value(g_.unique_name(op), {});
    g_.add_node(op, std::move(inputs), {out}, {}, out->name());
    return out;
  }
  /// The rows of `data` that a mask selects go through a product, and back into their places.
  Value* expert(Value* data, Value* into, Value* mask) {
    Value* rows = node("Reshape", {node("NonZero", {mask}), axis_});
    Value* some = node("Relu", {node("MatMul", {node("Gather", {data, rows}), weights_})});
    return node("ScatterND", {into, node("Unsqueeze", {rows, axis_}), some});
  }
  /// The nodes in each part, in the order of the graph.
  std::vector<size_t> cut(const std::vector<Value*>& outputs) {
    g_.outputs = outputs;
    infer_shapes(*model_);
    cut_dynamic_part(*model_);
    std::vector<size_t> sizes;
    for (const auto& n : g_.nodes())
      if (n->op_type == kNetwork) sizes.push_back(body_of(*n).nodes().size());
    infer_shapes(*model_);
    return sizes;
  }
  size_t outside(const std::string& op) const {
    return static_cast<size_t>(
        std::count_if(g_.nodes().begin(), g_.nodes().end(), [&](const auto& n) { return n->op_type == op; }));
  }

  std::shared_ptr<Model> model_ = std::make_shared<Model>();
  Graph& g_;
  Value *x_, *weights_, *axis_;
};

TEST_F(DynamicPart, WhatHangsOnOtherValuesIsAnotherPart) {
  Value* sum = x_;
  for (const char* name : {"a", "b", "c"}) sum = expert(x_, sum, input(name, DType::kFloat32, Shape{64}));
  Value* y = node("MatMul", {sum, weights_});
  EXPECT_EQ(cut({y}), (std::vector<size_t>{6, 6, 6}));
  // What has shapes again is planned now.
  EXPECT_EQ(outside("NonZero"), 3U);
  EXPECT_EQ(outside("MatMul"), 1U);
}

TEST_F(DynamicPart, NothingStandsBeforeAndBehindAPart) {
  Value* rows = node("Reshape", {node("NonZero", {input("a", DType::kFloat32, Shape{64})}), axis_});
  Value* some = node("Gather", {x_, rows});
  Value* all = node("ScatterND", {x_, node("Unsqueeze", {rows, axis_}), some});
  Value* between = node("Softmax", {all});  // has a shape
  Value* again = node("Relu", {node("Gather", {between, rows})});
  EXPECT_EQ(cut({again}), (std::vector<size_t>{4, 2}));
  EXPECT_EQ(outside("Softmax"), 1U);
}

/// The third part would stand before and behind the second by way of a node that it takes in later.
TEST_F(DynamicPart, PartsDoNotWaitForEachOther) {
  Value* a = node("Reshape", {node("NonZero", {input("a", DType::kFloat32, Shape{64})}), axis_});
  Value* b = node("Reshape", {node("NonZero", {input("b", DType::kFloat32, Shape{64})}), axis_});
  Value* a1 = node("ScatterND", {x_, node("Unsqueeze", {a, axis_}), node("Gather", {x_, a})});
  Value* b1 = node("ScatterND", {a1, node("Unsqueeze", {b, axis_}), node("Gather", {a1, b})});
  Value* a2 = node("ScatterND", {b1, node("Unsqueeze", {a, axis_}), node("Gather", {b1, a})});
  Value* b2 = node("Relu", {node("Gather", {a2, b})});
  std::vector<size_t> sizes = cut({b2});
  size_t nodes = 0;
  for (const size_t s : sizes) nodes += s;
  EXPECT_EQ(nodes, 13U);
  EXPECT_EQ(sizes.size(), 4U);
}

/// Shapes on their way are not taken for data.
TEST_F(DynamicPart, IntegersStayWithWhatTheyComeFrom) {
  Value* rows = node("Reshape", {node("NonZero", {input("a", DType::kFloat32, Shape{64})}), axis_});
  Value* some = node("Gather", {x_, rows});
  Value* extent = node("Shape", {some});
  Value* other = node("Relu", {node("Reshape", {node("Relu", {some}), extent})});
  EXPECT_EQ(cut({other}), (std::vector<size_t>{6}));
}

TEST_F(DynamicPart, OneNodeStays) {
  Value* rows = node("NonZero", {input("a", DType::kFloat32, Shape{64})});
  EXPECT_EQ(cut({node("Neg", {rows})}), std::vector<size_t>());
}

TEST_F(DynamicPart, ManyAreCutAsOne) {
  Value* sum = x_;
  for (int i = 0; i < 150; ++i)
    sum = expert(x_, sum, input("mask" + std::to_string(i), DType::kFloat32, Shape{64}));
  EXPECT_EQ(cut({sum}).size(), 1U);
}

}  // namespace
}  // namespace assay::engine::dynamic_part_test
