#include "ops/eval_util.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace assay::eval_util_test {
namespace {

Tensor counting(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  std::iota(t.mutable_data<int64_t>(), t.mutable_data<int64_t>() + t.numel(), 1);
  return t;
}

/// The element of `t` that index `i` of the broadcast shape reads, found the slow way.
int64_t element_at(const Tensor& t, const Shape& shape, int64_t i) {
  int64_t offset = 0;
  const std::vector<int64_t> strides = t.shape().strides();
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) {
    if (d + t.shape().size() < shape.size()) continue;
    const size_t own = d + t.shape().size() - shape.size();
    if (t.shape()[own] != 1) offset += i % shape[d] * strides[own];
  }
  return t.data<int64_t>()[offset];
}

TEST(MapBroadcast, EqualsElementByElementIndexingForAnyPairOfShapes) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    Shape a, b;
    for (int64_t d = pick(6); d > 0; --d) {
      const int64_t extent = pick(5);
      a.push_back(pick(3) == 0 ? 1 : extent);
      b.push_back(pick(3) == 0 ? 1 : extent);
    }
    for (Shape* s : {&a, &b})
      for (int64_t cut = pick(3); cut > 0 && !s->empty(); --cut) s->erase_at(0);
    const Tensor x = counting(a), z = counting(b);
    const Tensor y = map_broadcast<int64_t>(x, z, [](int64_t p, int64_t q) { return p * 1000 + q; });
    ASSERT_EQ(y.shape(), broadcast(a, b));
    for (int64_t i = 0; i < y.numel(); ++i)
      ASSERT_EQ(y.data<int64_t>()[i], element_at(x, y.shape(), i) * 1000 + element_at(z, y.shape(), i))
          << a.str() << " with " << b.str() << " at " << i;
  }
}

TEST(MapBroadcast, LongRowsAreSplitAtTheRightPlaces) {
  // Longer than one thread's share, and not a multiple of it.
  const Tensor x = counting({3, 20001}), z = counting({3, 1});
  const Tensor y = map_broadcast<int64_t>(x, z, [](int64_t p, int64_t q) { return p - q; });
  for (int64_t i = 0; i < y.numel(); ++i) ASSERT_EQ(y.data<int64_t>()[i], i + 1 - (i / 20001 + 1)) << i;
}

TEST(BroadcastPlan, MergesWhatEveryInputWalksEvenly) {
  const Shape to{2, 3, 4, 5};
  const std::vector<Shape> from{{2, 3, 4, 5}, {3, 1, 1}};
  const BroadcastPlan plan(to, from);
  EXPECT_EQ(plan.extents, (std::vector<int64_t>{2, 3, 20}));
  EXPECT_EQ(plan.strides[0], (std::vector<int64_t>{60, 20, 1}));
  EXPECT_EQ(plan.strides[1], (std::vector<int64_t>{0, 1, 0}));
}

TEST(MapBroadcast, RefusesShapesThatDoNotMatch) {
  EXPECT_THROW(map_broadcast<int64_t>(counting({2, 3}), counting({4}), std::plus<>()), Error);
}

}  // namespace
}  // namespace assay::eval_util_test
