// Replacements that are surely faster, or surely slower, than what they replace.
#include "bench/autotune.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "backends/session_info.h"

namespace assay::bench::autotune_test {
namespace {

/// x times several matrices that no pass merges: the engine keeps each Relu.
std::shared_ptr<Model> products(int count) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& g = *model->graph;
  constexpr int64_t kSize = 384;
  std::vector<float> weights(kSize * kSize);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  const Type type = Type::tensor(DType::kFloat32, Dims{1, kSize});
  Value* last = g.add_input("x", type);
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    Value* w = g.add_constant("w" + number, Tensor::from<float>(Shape{kSize, kSize}, weights));
    Value* product = g.add_value("p" + number, type);
    g.add_node("MatMul", {last, w}, {product}, {}, "product" + number);
    last = g.add_value(i + 1 == count ? "y" : "r" + number, type);
    g.add_node("Relu", {product}, {last}, {}, "relu" + number);
  }
  g.outputs = {last};
  return model;
}

/// Records the observer's events as text.
class Notes final : public AutotuneObserver {
 public:
  void on_baseline(const Performance& p) override {
    all.emplace_back(p.latency > 0 ? "baseline" : "no time");
  }
  void on_decision(const TunedInstance& instance, bool is_replaced, const Performance&) override {
    all.push_back(instance.name + (is_replaced ? " replaced" : " kept"));
  }
  void on_difference(double difference) override { all.emplace_back(difference > 0.01 ? "differs" : "same"); }
  void on_failure(const std::vector<std::string>& names, const std::string& reason) override {
    all.push_back(names.back() + " failed: " + reason);
  }
  void on_end(const SearchResult&) override { all.emplace_back("end"); }
  std::vector<std::string> all;
};

class Autotune : public testing::Test {
 protected:
  Autotune() { plugin_.instances.resize(1); }
  TunedInstance instance(const std::string& name, OwnReplacement own) {
    return {.plugin = &plugin_, .instance = plugin_.instances.data(), .name = name, .own = std::move(own)};
  }
  AutotuneReport tune(const std::vector<TunedInstance>& instances) {
    const Runtime runtime;
    return autotune(runtime, products(8), instances, {}, notes_);
  }

  PluginMatches plugin_{.name = "short", .op = "Short", .domain = "", .instances = {}};
  Notes notes_;
};

TEST_F(Autotune, KeepsWhatIsFasterAndTellsOfItsOutputs) {
  const std::vector<TunedInstance> instances = {
      instance("broken",
               [](const Model&, const PluginMatches&) -> std::shared_ptr<Model> {
                 fail(ErrorCode::kInvalidArgument, "no");
               }),
      instance("short", [](const Model&, const PluginMatches&) { return products(1); })};
  const AutotuneReport report = tune(instances);
  EXPECT_EQ(notes_.all,
            (std::vector<std::string>{"baseline", "broken failed: no", "short replaced", "differs", "end"}));
  EXPECT_EQ(report.search.best, Replacements{1});
  ASSERT_NE(report.model, nullptr);
  EXPECT_EQ(report.model->graph->nodes().size(), 2U);
  EXPECT_TRUE(report.differs_notably());
  EXPECT_EQ(report.builds, 2U);
  const std::string text = autotune_text(report, instances);
  EXPECT_NE(text.find("Best Strategy (1 replacements):\n  1. Short (short)\n     Inputs: N/A\n"),
            std::string::npos)
      << text;
}

TEST_F(Autotune, WhatIsSlowerIsLeftAlone) {
  const AutotuneReport report =
      tune({instance("long", [](const Model&, const PluginMatches&) { return products(32); })});
  EXPECT_EQ(notes_.all, (std::vector<std::string>{"baseline", "long kept", "end"}));
  EXPECT_EQ(report.model, nullptr);
  EXPECT_FALSE(report.differs_notably());
}

TEST_F(Autotune, WithoutInstancesThereIsNothingToTune) { EXPECT_THROW(tune({}), Error); }

}  // namespace
}  // namespace assay::bench::autotune_test
