#include "engine/specialize/plan_cache.h"

#include <gtest/gtest.h>

namespace assay::engine::plan_cache_test {
namespace {

struct Item {
  explicit Item(ReadyPlan plan) : ready(std::move(plan)) {}
  ReadyPlan ready;
};

const ReadyPlan& plan_in(const Item& item) { return item.ready; }

Tensor rows(int64_t n) { return Tensor::zeros(DType::kFloat32, {n, 3}); }

ReadyPlan plan_for(int64_t n, std::vector<Tensor> packed = {}) {
  auto plan = std::make_shared<Plan>();
  plan->steps.resize(1);
  for (Tensor& t : packed) plan->constants.push_back({.name = "w", .tensor = std::move(t), .packing = "p"});
  return {.key = {.shapes = {{n, 3}}, .values = {}}, .plan = std::move(plan), .networks = {}};
}

bool has(PlanCache<Item>& cache, int64_t n) { return cache.find(std::vector<Tensor>{rows(n)}) != nullptr; }

TEST(PlanCache, TheLeastRecentlyUsedGo) {
  PlanCache<Item> cache;
  constexpr auto kMax = static_cast<int64_t>(PlanCache<Item>::kMaxPlans);
  for (int64_t n = 0; n < kMax; ++n) cache.emplace(plan_for(n));
  EXPECT_TRUE(has(cache, 0));
  EXPECT_EQ(cache.front().ready.key.shapes[0][0], 0);
  cache.emplace(plan_for(kMax));
  EXPECT_EQ(cache.size(), PlanCache<Item>::kMaxPlans);
  EXPECT_TRUE(has(cache, 0));
  EXPECT_FALSE(has(cache, 1));
  EXPECT_TRUE(has(cache, 2));
  EXPECT_TRUE(has(cache, kMax));
}

TEST(PlanCache, ValuesTellPlansOfEqualShapesApart) {
  PlanCache<Item> cache;
  for (const int64_t value : {4, 5}) {
    ReadyPlan plan = plan_for(1);
    plan.key.shapes = {Shape{1}};
    plan.key.values = {{0, Tensor::vector<int64_t>({value})}};
    cache.emplace(std::move(plan));
  }
  const std::vector<Tensor> four = {Tensor::vector<int64_t>({4})}, six = {Tensor::vector<int64_t>({6})};
  ASSERT_NE(cache.find(four), nullptr);
  EXPECT_TRUE(cache.front().ready.key.values[0].second.identical(four[0]));
  EXPECT_EQ(cache.find(six), nullptr);
  EXPECT_TRUE(cache.has_shapes(six));
  EXPECT_FALSE(cache.has_shapes(std::vector<Tensor>{Tensor::vector<int64_t>({6, 6})}));
}

TEST(PlanCache, WeightsCountOnceHoweverManyPlansShareThem) {
  constexpr int64_t kPart = PlanCache<Item>::kMaxBytes / 4;
  const auto part = [] { return Tensor::allocate(DType::kUInt8, {kPart}); };
  const Tensor large = Tensor::allocate(DType::kUInt8, {8 * kPart});
  PlanCache<Item> shared;
  for (int64_t n = 0; n < 100; ++n) shared.emplace(plan_for(n, {large, large}));
  EXPECT_EQ(shared.size(), 100);
  PlanCache<Item> own;
  for (int64_t n = 0; n < 10; ++n) own.emplace(plan_for(n, {part(), large}));
  EXPECT_EQ(own.size(), 4) << "three parts beside the newest, and what steps take";
  EXPECT_TRUE(has(own, 9));
  EXPECT_FALSE(has(own, 5));
  own.emplace(plan_for(10, {part()}));
  EXPECT_EQ(own.size(), 1) << "the large one is no longer the newest's";
}

}  // namespace
}  // namespace assay::engine::plan_cache_test
