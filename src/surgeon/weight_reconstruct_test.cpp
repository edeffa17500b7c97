#include "surgeon/weight_reconstruct.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/sparsity.h"
#include "assay/error.h"
#include "graph/initializer_data.h"
#include "surgeon/weight_strip.h"
#include "tensor/convert.h"

namespace assay::weight_reconstruct_test {
namespace {

/// x times a weight of this type and shape, stripped.
Model stripped(DType dtype, Shape shape) {
  Model m;
  m.opsets = {{"", 17}};
  Value* x = m.graph->add_input("x", Type::tensor(dtype, Shape()));
  Value* w = m.graph->add_constant("w", Tensor::zeros(dtype, std::move(shape)));
  m.graph->outputs = {m.graph->add_value("y", {})};
  m.graph->add_node("MatMul", {x, w}, m.graph->outputs);
  strip_data(*w, "TRT_WEIGHTLESS/");
  return m;
}

Tensor weight(const Model& m) { return m.graph->find_value("w")->tensor().aligned(); }

/// Of variance 2 / 300, for sums over 300: results
/// keep their scale, also through many layers.
TEST(WeightReconstruct, NormalOfEveryTypeThatSuitsItsUse) {
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    Model m = stripped(dtype, {300, 100});
    EXPECT_EQ(reconstruct_weights(m, 1), 1);
    EXPECT_EQ(weight(m).dtype(), dtype);
    const Tensor values = to_float64(weight(m));
    double sum = 0, squares = 0;
    for (const double v : values.span<double>()) {
      sum += v;
      squares += v * v;
    }
    // Of 30000 numbers: six standard errors.
    const double variance = 2.0 / 300;
    EXPECT_LT(std::fabs(sum / 30000), 0.035 * std::sqrt(variance)) << dtype_name(dtype);
    EXPECT_LT(std::fabs(squares / 30000 / variance - 1), 0.05) << dtype_name(dtype);
  }
}

TEST(WeightReconstruct, IntegersAndPackedTypes) {
  for (const DType dtype : {DType::kInt8, DType::kInt4, DType::kFloat8E4M3FN, DType::kBool}) {
    Model m = stripped(dtype, {7, 3});
    EXPECT_EQ(reconstruct_weights(m, 1), 1);
    EXPECT_EQ(weight(m).dtype(), dtype);
    EXPECT_EQ(weight(m).shape(), Shape({7, 3}));
  }
}

TEST(WeightReconstruct, TheSeedDecides) {
  Model a = stripped(DType::kFloat32, {8, 8}), b = stripped(DType::kFloat32, {8, 8});
  Model c = stripped(DType::kFloat32, {8, 8});
  reconstruct_weights(a, 1);
  reconstruct_weights(b, 1);
  reconstruct_weights(c, 2);
  EXPECT_TRUE(weight(a).identical(weight(b)));
  EXPECT_FALSE(weight(a).identical(weight(c)));
}

TEST(WeightReconstruct, PiecesMakeOneSequence) {
  // More than a piece, of a type with two elements per byte, and on disk.
  Model bytes = stripped(DType::kInt8, {3, 700'001}), packed = stripped(DType::kInt4, {3, 700'001});
  reconstruct_weights(bytes, 5);
  reconstruct_weights(packed, 5);
  EXPECT_TRUE(weight(packed).identical(convert(weight(bytes), DType::kInt4)));
}

TEST(WeightReconstruct, SparseOnesGetThePattern) {
  Model m = stripped(DType::kBFloat16, {64, 16});
  strip_data(*m.graph->find_value("w"), "TRT_WEIGHTLESS/SPARSE_2_4");
  reconstruct_weights(m, 1);
  EXPECT_TRUE(has_2_4_sparsity(weight(m), 0));
  EXPECT_EQ(m.graph->find_value("w")->doc_string, "TRT_WEIGHTLESS/SPARSE_2_4");
  Model dense = stripped(DType::kBFloat16, {64, 16});
  reconstruct_weights(dense, 1);
  EXPECT_FALSE(has_2_4_sparsity(weight(dense), 0));
}

TEST(WeightReconstruct, InSubgraphsToo) {
  Model m;
  m.opsets = {{"", 17}};
  auto body = std::make_shared<Graph>();
  body->set_parent(m.graph.get());
  Value* w = body->add_constant("w", Tensor::zeros(DType::kFloat32, {2}));
  strip_data(*w, "TRT_WEIGHTLESS/");
  body->outputs = {w};
  Value* condition = m.graph->add_input("c", Type::tensor(DType::kBool, Shape()));
  m.graph->outputs = {m.graph->add_value("y", {})};
  m.graph->add_node("If", {condition}, m.graph->outputs, {{"then_branch", body}});
  EXPECT_EQ(reconstruct_weights(m, 1), 1);
  EXPECT_TRUE(w->tensor().defined());
}

TEST(WeightReconstruct, NothingStrippedNothingFilled) {
  Model m = stripped(DType::kFloat32, {4, 4});
  reconstruct_weights(m, 1);
  const Tensor before = weight(m);
  EXPECT_EQ(reconstruct_weights(m, 2), 0);
  EXPECT_TRUE(weight(m).identical(before));
}

TEST(WeightReconstruct, StringsAreRefused) {
  Model m = stripped(DType::kString, {4});
  EXPECT_THROW(reconstruct_weights(m, 1), Error);
}

}  // namespace
}  // namespace assay::weight_reconstruct_test
