#include "ops/multiply_accumulates.h"
#include "ops/op_set.h"

#include <gtest/gtest.h>

namespace assay::multiply_accumulates_test {
namespace {

/// The cost of a node as text, given the extents of its inputs and of its output.
std::string macs(const std::string& op, const std::vector<Dims>& inputs, const Dims& output,
                 AttributeList attributes = {}) {
  Graph g;
  std::vector<Value*> in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(g.add_input("x" + std::to_string(i), Type::tensor(DType::kFloat32, inputs[i])));
  Value* out = g.add_value("y", Type::tensor(DType::kFloat32, output));
  const Node& n = *g.add_node(op, in, {out}, std::move(attributes));
  return multiply_accumulates(n, built_in_ops().find("", op)).str();
}

TEST(MultiplyAccumulatesTest, Products) {
  EXPECT_EQ(macs("Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {1, 16, 6, 6}), std::to_string(16 * 36 * 27));
  EXPECT_EQ(macs("QLinearConv", {{1, 3, 8, 8}, {}, {}, {16, 3, 3, 3}}, {1, 16, 6, 6}),
            std::to_string(16 * 36 * 27));
  EXPECT_EQ(macs("ConvTranspose", {{1, 4, 5, 5}, {4, 2, 2, 2}}, {1, 2, 10, 10}), std::to_string(100 * 8));
  EXPECT_EQ(macs("MatMul", {{5, 2, 3}, {3, 4}}, {5, 2, 4}), std::to_string(5 * 2 * 3 * 4));
  EXPECT_EQ(macs("Gemm", {{2, 3}, {3, 4}}, {2, 4}), "24");
  EXPECT_EQ(macs("Gemm", {{3, 2}, {3, 4}}, {2, 4}, {{"transA", int64_t{1}}}), "24");
  EXPECT_EQ(macs("LSTM", {{7, 2, 3}, {1, 16, 3}, {1, 16, 4}}, {7, 1, 2, 4}), std::to_string(14 * (48 + 64)));
  EXPECT_EQ(macs("Einsum", {{2, 3}, {3, 4}}, {2, 4}, {{"equation", std::string("ij, jk -> ik")}}), "24");
  EXPECT_EQ(macs("Attention", {{1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 4}}, {1, 2, 5, 4}),
            std::to_string(2 * 5 * 7 * (8 + 4)));
}

TEST(MultiplyAccumulatesTest, SymbolsAndUnknowns) {
  EXPECT_EQ(macs("MatMul", {{Dim::symbol("n"), 3}, {3, 4}}, {Dim::symbol("n"), 4}), "12*n");
  EXPECT_EQ(macs("MatMul", {{Dim(), 3}, {3, 4}}, {Dim(), 4}), "?");
  EXPECT_EQ(macs("Einsum", {{2, 3}}, {2}, {{"equation", std::string("...i->...")}}), "?");
  EXPECT_EQ(macs("Relu", {{2}}, {2}), "0");
  EXPECT_EQ(macs("NoSuchOperator", {{2}}, {2}), "?");
  EXPECT_EQ(macs("Conv", {{1, 3, 8, 8}}, {1, 16, 6, 6}), "?");
}

}  // namespace
}  // namespace assay::multiply_accumulates_test
