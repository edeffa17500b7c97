#include "surgeon/prune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/error.h"
#include "tensor/convert.h"

namespace assay::prune_test {
namespace {

std::vector<float> pruned(const std::vector<float>& values, Shape shape, size_t axis,
                          DType dtype = DType::kFloat32) {
  const Tensor t = convert(Tensor::from<float>(std::move(shape), values), dtype);
  const Tensor out = convert(pruned_2_4(t, axis).aligned(), DType::kFloat32);
  const auto span = out.span<float>();
  return {span.begin(), span.end()};
}

TEST(Prune, ZeroesTheTwoSmallestOfFour) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(pruned({3, -1, 2, -4, 0.5, 8, -7, 6}, {2, 4}, 1, dtype),
              (std::vector<float>{3, 0, 0, -4, 0, 8, -7, 0}))
        << dtype_name(dtype);
    EXPECT_EQ(pruned({3, -1, 2, -4, 0.5, 8, -7, 6}, {4, 2}, 0, dtype),
              (std::vector<float>{3, 0, 0, 0, 0, 8, -7, 6}))
        << dtype_name(dtype);
  }
}

TEST(Prune, AmongEqualsTheFirstGoes) {
  EXPECT_EQ(pruned({1, -1, 1, 1}, {4}, 0), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(pruned({2, 1, -1, 1}, {4}, 0), (std::vector<float>{2, 0, 0, 1}));
}

TEST(Prune, InfinitiesAndNaNCountAsLarge) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(pruned({inf, 1, -inf, 2}, {4}, 0), (std::vector<float>{inf, 0, -inf, 0}));
  const std::vector<float> out = pruned({nan, inf, 5, nan}, {4}, 0);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[3]));
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 0);
}

TEST(Prune, LeavesWhatHasThePattern) {
  const Tensor t = Tensor::vector<float>({0, -0.0F, 3, 4});
  EXPECT_EQ(pruned_2_4(t, 0).data(), t.data());
}

/// The rule, one group after the other.
std::vector<float> plainly_pruned(std::vector<float> v, int64_t outer, int64_t groups, int64_t inner) {
  for (int64_t group = 0; group < outer * groups; ++group)
    for (int64_t i = 0; i < inner; ++i)
      for (int round = 0; round < 2; ++round) {
        size_t least = 0;
        float magnitude = std::numeric_limits<float>::infinity();
        for (int64_t k = 0; k < 4; ++k) {
          const auto at = static_cast<size_t>((group * 4 + k) * inner + i);
          if (v[at] != 0 && std::fabs(v[at]) < magnitude) {
            magnitude = std::fabs(v[at]);
            least = at;
          }
        }
        v[least] = 0;
      }
  return v;
}

TEST(Prune, LargeTensorsInPieces) {
  // More than one piece, and on disk; no zeros and no ties within a group.
  constexpr int64_t kOuter = 3, kAxis = 256, kInner = 4099;
  std::vector<float> v(static_cast<size_t>(kOuter * kAxis * kInner));
  uint32_t state = 1;
  for (size_t i = 0; i < v.size(); ++i) {
    state = state * 1664525 + 1013904223;
    v[i] = (static_cast<float>(state >> 9) + 1) * ((state & 256) != 0 ? 1.0F : -1.0F);
  }
  const Shape shape({kOuter, kAxis, kInner});
  const Tensor out = pruned_2_4(Tensor::from<float>(shape, v), 1).aligned();
  const std::vector<float> expected = plainly_pruned(v, kOuter, kAxis / 4, kInner);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.span<float>().begin()));
  EXPECT_TRUE(has_2_4_sparsity(out, 1));
}

TEST(Prune, ChangesNothingButTheTargets) {
  Model m;
  Graph& g = *m.graph;
  m.opsets = {{"", 17}, {"ai.onnx.ml", 3}};
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape({1, 4})));
  Value* w = g.add_constant("w", Tensor::from<float>({4, 1}, {1, 2, 3, 4}));
  Value* b = g.add_constant("b", Tensor::vector<float>({1, 2, 3, 4}));
  Value* h = g.add_value("h", {});
  Value* y = g.add_value("y", {});
  w->doc_string = "words";
  w->metadata = {{"key", "value"}};
  g.add_node("MatMul", {x, w}, {h});
  g.add_node("Add", {h, b}, {y});
  g.outputs = {y};
  prune_weights(find_sparsity_targets(m).eligible);
  EXPECT_TRUE(w->tensor().identical(Tensor::from<float>({4, 1}, {0, 0, 3, 4})));
  EXPECT_TRUE(b->tensor().identical(Tensor::vector<float>({1, 2, 3, 4})));
  EXPECT_EQ(w->doc_string, "words");
  EXPECT_EQ(w->metadata, (Metadata{{"key", "value"}}));
}

TEST(Prune, NoGroupsOfFour) { EXPECT_THROW(pruned_2_4(Tensor::vector<float>({1, 2, 3}), 0), Error); }

}  // namespace
}  // namespace assay::prune_test
