#include "engine/planner/lowering.h"

#include <gtest/gtest.h>

#include <memory>

namespace assay::engine::lowering_test {
namespace {

/// A tensor whose storage goes when nobody has it any more.
Tensor weights(float x) {
  Tensor t = Tensor::allocate(DType::kFloat32, {256});
  for (float& v : t.mutable_span<float>()) v = x;
  return t;
}

Tensor doubled(const Tensor& t) {
  Tensor y = Tensor::allocate(DType::kFloat32, t.shape());
  for (int64_t i = 0; i < t.numel(); ++i) y.mutable_data<float>()[i] = 2 * t.data<float>()[i];
  return y;
}

TEST(ConstantCache, MakesAConstantOnceForEachWay) {
  ConstantCache cache;
  const Tensor w = weights(1);
  int made = 0;
  const auto make = [&] {
    ++made;
    return doubled(w);
  };
  const Tensor a = cache.get(w, "one way", make), b = cache.get(w, "one way", make);
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(a.shares_storage(b));
  const Tensor c = cache.get(w, "another way", make);
  EXPECT_EQ(made, 2);
  EXPECT_FALSE(a.shares_storage(c));
}

// A constant that folding makes for one shape lies, after it is gone, where the next one lies: the address
// says nothing.
TEST(ConstantCache, ANewConstantAtTheAddressOfADeadOneIsPackedAnew) {
  ConstantCache cache;
  std::vector<Tensor> kept;
  for (int round = 0; round < 100; ++round) {
    const auto x = static_cast<float>(round);
    const Tensor w = weights(x);
    const Tensor made = cache.get(w, "way", [&] { return doubled(w); });
    ASSERT_EQ(made.data<float>()[0], 2 * x) << round;
    kept.push_back(made);
  }
}

TEST(ConstantCache, ForgetsWhatNobodyHas) {
  ConstantCache cache;
  const Tensor w = weights(1);
  const Tensor held = cache.get(w, "held", [&] { return doubled(w); });
  for (int shape = 0; shape < 10'000; ++shape)
    cache.get(w, "for shape " + std::to_string(shape), [&] { return doubled(w); });
  EXPECT_LE(cache.size(), 64U);
  int made = 0;
  cache.get(w, "held", [&] {
    ++made;
    return doubled(w);
  });
  EXPECT_EQ(made, 0);
}

TEST(ConstantCache, AReleasedSourceMayGo) {
  ConstantCache cache;
  auto source = std::make_shared<Tensor>(weights(1));
  const Tensor other = weights(2);
  const Tensor made = cache.get(Tensor::view(DType::kFloat32, source->shape(), source->data(), source), "way",
                                [&] { return doubled(*source); });
  const Tensor kept = cache.get(other, "way", [&] { return doubled(other); });
  const std::weak_ptr<Tensor> alive = source;
  const void* const address = source->data();
  source = nullptr;
  EXPECT_FALSE(alive.expired()) << "its address would mean another";
  cache.release(address);
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(made.data<float>()[0], 2);
  EXPECT_EQ(kept.data<float>()[0], 4);
}

}  // namespace
}  // namespace assay::engine::lowering_test
