#include "analysis/unbounded_dds.h"

#include <gtest/gtest.h>

namespace assay::unbounded_dds_test {
namespace {

class UnboundedDdsTest : public testing::Test {
 protected:
  Value* value(const std::string& name, Dims dims) {
    return g.add_value(name, Type::tensor(DType::kInt64, std::move(dims)));
  }
  std::vector<std::string> found() {
    std::vector<std::string> names;
    for (const Value* v : unbounded_dds_tensors(g, m)) names.push_back(v->name());
    return names;
  }
  using Names = std::vector<std::string>;

  Model m;
  Graph& g = *m.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n")}));
};

TEST_F(UnboundedDdsTest, ComputedSizesWithNewExtents) {
  Value* size = value("size", {});
  g.add_node("ReduceMax", {x}, {size});
  g.add_node("Range", {x, size, x}, {value("range", {Dim::symbol("m")})});
  g.add_node("Tile", {x, size}, {g.add_value("unknown_rank")});
  Value* repeats = value("repeats", {1});
  g.add_node("Neg", {size}, {repeats});
  g.add_node("Expand", {x, repeats}, {value("open", {Dim()})});
  EXPECT_EQ(found(), (Names{"size", "repeats"}));
}

TEST_F(UnboundedDdsTest, WhatIsKnownOrBoundedDoesNotCount) {
  Value* size = value("size", {});
  g.add_node("ReduceMax", {x}, {size});
  g.add_node("Tile", {x, size}, {value("of_the_input", {Dim::symbol("n")})});
  g.add_node("Tile", {x, size}, {value("fixed", {4})});
  g.add_node("Tile", {x, g.add_constant("k", Tensor::vector<int64_t>({2}))},
             {value("constant", {Dim::symbol("k")})});
  g.add_node("Tile", {x, x}, {value("by_input", {Dim::symbol("i")})});
  Value* bounded = value("bounded", {});
  g.add_node("Min", {size}, {bounded});
  g.add_node("Range", {x, bounded, x}, {value("range", {Dim::symbol("m")})});
  EXPECT_EQ(found(), Names());
}

}  // namespace
}  // namespace assay::unbounded_dds_test
