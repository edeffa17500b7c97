#include "engine/planner/network_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "engine/planner/rehearsal.h"
#include "engine/specialize/plan_builder.h"
#include "templates/template_set.h"

namespace assay::engine::network_choice_test {
namespace {

struct Built {
  std::vector<std::string> steps;
  int asked = 0;  ///< how often the filter was
};

/// The steps of a network built with these times, or with estimates alone.
Built build(const Model& model, const std::shared_ptr<TimingCache>& cache, double seconds_per_network,
            bool use_only = false) {
  BuildConfig config = default_config(2);
  Built built;
  config.timing_cache = cache;
  config.timing = {
      .least_runs = 1, .most_runs = 1, .seconds_per_network = seconds_per_network, .use_only = use_only};
  config.filter = [&](const Region&, std::vector<Option>&) { ++built.asked; };
  std::vector<Shape> shapes;
  for (const Value* v : model.graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
  const auto plan = PlanBuilder(model, config).build(shapes);
  for (const Step& s : plan->steps) built.steps.push_back(step_name(s) + " " + tactic_text(s));
  return built;
}

/// Times of problems turned upside down: the choice by them alone is a bad one.
std::shared_ptr<TimingCache> misleading(const TimingCache& cache) {
  std::string text = cache.str(), turned;
  const std::regex entry("\": ?([0-9]+)([,}])");
  auto from = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it) {
    const int64_t ns = std::max<int64_t>(std::stoll((*it)[1]), 1);
    const bool is_version = it->position() < 60;
    turned.append(from, (*it)[0].first);
    turned += is_version ? it->str() : "\":" + std::to_string(1'000'000'000'000 / ns) + (*it)[2].str();
    from = (*it)[0].second;
  }
  turned.append(from, text.cend());
  auto copy = std::make_shared<TimingCache>(cache.environment());
  copy->read(turned, "turned");
  return copy;
}

/// Keys of networks as a whole, that of the choice by single measurements last.
std::vector<std::string> networks_in(const TimingCache& cache) {
  const std::string text = cache.str();
  std::vector<std::string> keys;
  const std::regex entry("\"(all in network ([0-9a-f]+) of ([0-9a-f]+))\"");
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it)
    if ((*it)[2] == (*it)[3])
      keys.push_back((*it)[1]);
    else
      keys.insert(keys.begin(), (*it)[1]);
  return keys;
}

class NetworkChoice : public testing::Test {
 protected:
  void SetUp() override {
    model_ = build_template(find_template("mnist-cnn"), {});
    const auto cache = std::make_shared<TimingCache>("here");
    build(*model_, cache, 0);
    ASSERT_GT(cache->size(), 0U);
    cache_ = misleading(*cache);
  }
  std::shared_ptr<Model> model_;
  std::shared_ptr<TimingCache> cache_;
};

TEST_F(NetworkChoice, TheNetworkAsAWholeDecides) {
  const Built alone = build(*model_, cache_, 0), estimated = build(*model_, nullptr, 0);
  ASSERT_NE(alone.steps, estimated.steps);
  build(*model_, cache_, 1e-3);
  const std::vector<std::string> keys = networks_in(*cache_);
  ASSERT_GE(keys.size(), 2U);
  const auto fastest = [&](const std::string& key) {
    for (const std::string& k : keys) cache_->set(k, k == key ? 1e-6 : 1e-3);
    return build(*model_, cache_, 1e-3, true).steps;
  };
  EXPECT_EQ(fastest(keys.back()), alone.steps);
  EXPECT_TRUE(std::any_of(keys.begin(), keys.end() - 1,
                          [&](const std::string& k) { return fastest(k) == estimated.steps; }));
}

/// What is measured in the first build decides in the second as it did in the first.
TEST_F(NetworkChoice, AFullCacheMakesTheSameChoice) {
  const Built first = build(*model_, cache_, 1e-3);
  const std::string known = cache_->str();
  EXPECT_EQ(build(*model_, cache_, 1e-3, true).steps, first.steps);
  EXPECT_EQ(cache_->str(), known);
}

/// A cache of another build, or a choice that is steered otherwise than it was: single times decide.
TEST_F(NetworkChoice, AnUnknownNetworkIsNoMissOfTheCache) {
  const std::string known = cache_->str();
  EXPECT_EQ(build(*model_, cache_, 1e-3, true).steps, build(*model_, cache_, 0, true).steps);
  EXPECT_EQ(cache_->str(), known);
}

TEST_F(NetworkChoice, AnUnknownCandidateIsAMissOfTheCache) {
  const auto empty = std::make_shared<TimingCache>("here");
  EXPECT_THROW(build(*model_, empty, 1e-3, true), Error);
}

TEST_F(NetworkChoice, TheCallerIsAskedAboutEachRegionOnce) {
  const int asked = build(*model_, cache_, 0).asked;
  EXPECT_EQ(build(*model_, cache_, 1e-3).asked, asked);
}

/// Every step's time is a part of the run's; what runs on whole tensors is left out.
TEST(Rehearsal, TimesOfSteps) {
  for (const char* name : {"mnist-cnn", "mnist-nonzero", "voice-activity"}) {
    const auto model = build_template(find_template(name), {});
    std::vector<Shape> shapes;
    for (const Value* v : model->graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
    const auto plan = PlanBuilder(*model, default_config(2)).build(shapes);
    Rehearsal rehearsal(
        *cpu_target(), plan, [](std::string_view tactic) { return built_in_tactics().find_kernel(tactic); },
        nullptr);
    ASSERT_TRUE(rehearsal.run(false)) << name;
    EXPECT_EQ(rehearsal.runs(), 0U);
    ASSERT_TRUE(rehearsal.run(true)) << name;
    double sum = 0;
    for (size_t s = 0; s < plan->steps.size(); ++s) {
      const bool has_kernel = built_in_tactics().find_kernel(plan->steps[s].tactic)->makes_kernels();
      EXPECT_EQ(rehearsal.step_seconds(s) > 0, has_kernel) << name << ", step " << s;
      sum += rehearsal.step_seconds(s);
    }
    EXPECT_DOUBLE_EQ(sum, rehearsal.seconds()) << name;
  }
}

}  // namespace
}  // namespace assay::engine::network_choice_test
