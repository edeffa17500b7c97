#include "analysis/stored_weights.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay::stored_weights_test {
namespace {

/// A DequantizeLinear of weights, before a convolution.
struct Network {
  Graph g;
  Node* dequantize;
  Node* conv;

  Network(DType type, const Shape& shape, const Shape& scales, AttributeList attributes, int64_t groups = 1,
          bool has_zeros = false) {
    Tensor levels = Tensor::zeros(type, shape), scale = Tensor::allocate(DType::kFloat32, scales);
    auto* const bytes = static_cast<uint8_t*>(levels.mutable_data());
    for (size_t i = 0; i < levels.nbytes(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 % 251);
    for (int64_t i = 0; i < scales.numel(); ++i)
      scale.mutable_data<float>()[i] = static_cast<float>(i % 7 + 1) / 8;
    std::vector<Value*> inputs = {g.add_constant("q", levels), g.add_constant("s", scale)};
    if (has_zeros) {
      Tensor zeros = Tensor::zeros(type, scales);
      auto* const z = static_cast<uint8_t*>(zeros.mutable_data());
      for (size_t i = 0; i < zeros.nbytes(); ++i) z[i] = static_cast<uint8_t>(i * 29 % 200);
      inputs.push_back(g.add_constant("z", zeros));
    }
    Value* w = g.add_value("w", Type::tensor(DType::kFloat32, shape));
    dequantize = g.add_node("DequantizeLinear", inputs, {w}, std::move(attributes), "dequantize");
    Value* x = g.add_value("x", Type::tensor(DType::kFloat32, Shape{1, shape[1] * groups, 9, 9}));
    g.inputs = {x};
    conv = g.add_node("Conv", {x, w}, {g.add_value("y", Type())}, {{"group", groups}}, "conv");
    g.outputs = {conv->output(0)};
  }
  QuantizedConstant constant() const { return *quantized_constant(*dequantize); }
  bool can_stay() const { return can_stay_stored(*dequantize->output(0)); }
};

AttributeList blocks(int64_t axis, int64_t size) { return {{"axis", axis}, {"block_size", size}}; }

/// Each element by its own place among the scales.
void expect_dequantized(const Network& network, int64_t axis, int64_t block) {
  const QuantizedConstant c = network.constant();
  const Shape& shape = c.stored.shape();
  const std::vector<int64_t> numbers = c.stored.to_int64();
  const Tensor real = c.dequantized();
  const int64_t blocks = (shape[static_cast<size_t>(axis)] + block - 1) / block;
  for (int64_t o = 0, i = 0; o < shape[0]; ++o)
    for (int64_t k = 0; k < shape[1]; ++k)
      for (int64_t t = 0; t < shape[2]; ++t, ++i) {
        const int64_t at =
            axis == 0 ? (o / block * shape[1] + k) * shape[2] + t : (o * blocks + k / block) * shape[2] + t;
        ASSERT_EQ(c.scale_of(i), static_cast<size_t>(at)) << i;
        EXPECT_EQ(real.data<float>()[i], static_cast<float>(numbers[static_cast<size_t>(i)] -
                                                            c.zero_point[static_cast<size_t>(at)]) *
                                             c.scale[static_cast<size_t>(at)]);
      }
}

TEST(StoredWeights, ScalesOfBlocks) {
  expect_dequantized({DType::kInt4, {6, 7, 3}, {6, 3, 3}, blocks(1, 3), 1, true}, 1, 3);
  expect_dequantized({DType::kUInt8, {7, 5, 3}, {2, 5, 3}, blocks(0, 4), 1, true}, 0, 4);
  const Network of_channels(DType::kInt8, {6, 7, 3}, {6}, {{"axis", int64_t{-3}}});
  EXPECT_EQ(of_channels.constant().scale_of(7 * 3 * 4 + 5), 4U);
}

TEST(StoredWeights, GridsOfEveryForm) {
  const auto grid = [](const Network& n) {
    const std::optional<StoredGrid> g = stored_grid(n.constant());
    if (!g) return std::string("none");
    return fmt::format("{} {} {} {}", g->part, g->rows, g->columns, g->is_same_in_parts);
  };
  const Shape shape = {40, 30, 3, 3};
  EXPECT_EQ(grid({DType::kInt4, shape, {}, {}}), "270 270 40 true");
  EXPECT_EQ(grid({DType::kInt4, shape, {40}, {{"axis", int64_t{0}}}}), "270 270 1 true");
  EXPECT_EQ(grid({DType::kInt4, shape, {30}, {{"axis", int64_t{1}}}}), "30 1 40 true");
  EXPECT_EQ(grid({DType::kInt4, shape, {3}, {{"axis", int64_t{3}}}}), "30 30 40 false");
  EXPECT_EQ(grid({DType::kInt4, shape, {40, 4, 3, 3}, blocks(1, 8)}), "30 8 1 false");
  EXPECT_EQ(grid({DType::kInt4, shape, {3, 30, 3, 3}, blocks(0, 16)}), "270 1 16 false");
  // Scales that would take most of the memory.
  EXPECT_EQ(grid({DType::kInt4, shape, {40, 15, 3, 3}, blocks(1, 2)}), "none");
  EXPECT_EQ(grid({DType::kInt4, shape, {40, 30, 1, 3}, blocks(2, 3)}), "none");
}

TEST(StoredWeights, StayWhereConvolutionsAloneReadThem) {
  const AttributeList channels = {{"axis", int64_t{0}}};
  const Network many(DType::kInt8, {64, 64, 3, 3}, {64}, channels);
  EXPECT_TRUE(many.can_stay());
  EXPECT_FALSE(Network(DType::kInt8, {40, 40, 3, 3}, {40}, channels).can_stay()) << "few weights";
  EXPECT_FALSE(Network(DType::kInt8, {64, 64, 3, 3}, {64}, channels, 2).can_stay()) << "groups";
  EXPECT_FALSE(Network(DType::kInt8, {64, 64, 3, 3}, {63}, channels).can_stay()) << "63 scales";
  Network shared(DType::kInt8, {64, 64, 3, 3}, {64}, channels);
  shared.g.add_node("Relu", {shared.dequantize->output(0)}, {shared.g.add_value("r", Type())}, {}, "relu");
  EXPECT_FALSE(shared.can_stay()) << "another node reads the numbers";
  EXPECT_FALSE(is_kept_stored(many.dequantize->output(0)));
  keep_stored(*many.dequantize->output(0));
  EXPECT_TRUE(is_kept_stored(many.dequantize->output(0)));
}

}  // namespace
}  // namespace assay::stored_weights_test
