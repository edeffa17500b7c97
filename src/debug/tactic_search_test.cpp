#include "debug/tactic_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "assay/error.h"
#include "debug/engine_search_test_util.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_set.h"

namespace assay::debug::tactic_search_test {
namespace {

/// A tactic for Relu that is right but for nodes whose names hold "wrong", and "flaky", where every other run
/// is.
constexpr std::string_view kServed[] = {"Relu"};
std::atomic<int> flaky_runs = 0;

struct PlantedFields {
  int64_t kind = 0;  ///< 0: right, 1: wrong, 2: flaky, 3: crashes
  void fields(engine::FieldVisitor& visit) { visit("kind", kind, {0, 3}); }
};

std::string propose(const engine::Problem& p, engine::Proposals& proposals) {
  engine::Candidate& c = proposals.add({}, engine::NumericsClass::kExact);
  c.add_input(p.node().input(0));
  c.add_output(p.node().output(0));
  const std::string& name = p.node().name;
  c.write(PlantedFields{.kind = name.starts_with("wrong")     ? 1
                                : name.starts_with("flaky")   ? 2
                                : name.starts_with("crashes") ? 3
                                                              : 0});
  c.estimate = 1e-12;
  return {};
}

class PlantedKernel final : public engine::Kernel {
 public:
  PlantedKernel(int64_t n, int64_t kind) : n_(n), kind_(kind) {}
  engine::Status run(const engine::KernelArgs& args) noexcept override {
    if (kind_ == 3) std::raise(SIGSEGV);
    const bool is_wrong = kind_ == 1 || (kind_ == 2 && flaky_runs++ % 2 == 1);
    for (int64_t i = 0; i < n_; ++i) {
      const float x = static_cast<const float*>(args.inputs[0])[i];
      static_cast<float*>(args.outputs[0])[i] = (x > 0 ? x : 0) + (is_wrong && i % 3 == 0 ? 0.25F : 0);
    }
    return engine::Status::kOk;
  }

 private:
  int64_t n_, kind_;
};
std::unique_ptr<engine::Kernel> create(const engine::Plan& plan, const engine::Step& step) {
  const engine::StepReader r(plan, step, 1);
  return std::make_unique<PlantedKernel>(r.output(0, DType::kFloat32).shape.numel(),
                                         r.read(PlantedFields()).kind);
}
constexpr engine::TacticDef kPlanted{.name = "planted",
                                     .summary = "",
                                     .operators = kServed,
                                     .propose = propose,
                                     .factory = {.create = create}};

RuntimeOptions with_planted() {
  auto tactics = std::make_shared<engine::TacticSet>(engine::built_in_tactics());
  tactics->add(kPlanted);
  return {.tactics = std::move(tactics)};
}

/// Products, each with running sums and a Relu behind it, which stays a region of its own; those at `bad` are
/// called `kind` and a number.
std::shared_ptr<Model> network(const std::vector<int>& bad, const std::string& kind, int count = 12) {
  ChainBuilder chain(Shape{4, 8});
  for (int i = 0; i < count; ++i) {
    const bool is_bad = std::find(bad.begin(), bad.end(), i) != bad.end();
    chain.product(fmt::format("product{}", i), 0.1F, -0.3F)
        .running_sum(fmt::format("sum{}", i))
        .node("Relu", fmt::format("{}{}", is_bad ? kind : "relu", i));
  }
  return chain.done();
}

BuilderConfig estimated() {
  BuilderConfig config;
  config.optimization_level = 0;
  return config;
}

TacticResult search(SearchedEngines& engines) {
  const TacticOptions options{.choices = engines.folder / "choices"};
  return search_tactics(engines(), options, engines.observer);
}

std::vector<std::string> guilty_nodes(const TacticResult& r) {
  std::vector<std::string> nodes;
  for (const TacticChoice& c : r.guilty) nodes.insert(nodes.end(), c.nodes.begin(), c.nodes.end());
  return nodes;
}

TEST(TacticSearch, TheWrongRegionIsNamed) {
  for (const int bad : {0, 5, 11}) {
    SearchedEngines engines(network({bad}, "wrong"), {}, estimated(), with_planted());
    const TacticResult r = search(engines);
    ASSERT_EQ(r.outcome, TacticResult::Outcome::kFound);
    EXPECT_EQ(guilty_nodes(r), std::vector<std::string>{fmt::format("wrong{}", bad)});
    ASSERT_EQ(r.guilty.size(), 1U);
    EXPECT_EQ(r.guilty[0].algorithm, "planted");
    EXPECT_EQ(r.disabled, std::vector<std::string>{"planted"});
    EXPECT_LE(engines.checks(), 18U);
  }
}

TEST(TacticSearch, AFlakyOneIsFound) {
  flaky_runs = 0;
  SearchedEngines engines(network({4}, "flaky"), {}, estimated(), with_planted(), 4);
  const TacticResult r = search(engines);
  EXPECT_EQ(r.failure.kind, AnswerKind::kFlaky);
  EXPECT_EQ(guilty_nodes(r), std::vector<std::string>{"flaky4"});
}

TEST(TacticSearch, OneThatCrashesIsFoundByItsCrash) {
  SearchedEngines engines(network({6}, "crashes"), {}, estimated(), with_planted());
  const TacticResult r = search(engines);
  EXPECT_NE(r.failure.failure.find("signal 11"), std::string::npos) << r.failure.failure;
  EXPECT_EQ(guilty_nodes(r), std::vector<std::string>{"crashes6"});
}

TEST(TacticSearch, ByAnAccuracyAsWell) {
  SearchedEngines engines(network({7}, "wrong"), AccuracyGoal::parse("60dB"), estimated(), with_planted());
  EXPECT_EQ(guilty_nodes(search(engines)), std::vector<std::string>{"wrong7"});
}

TEST(TacticSearch, NothingIsFoundWhereNothingIsWrong) {
  SearchedEngines engines(network({}, "wrong"), {}, estimated(), with_planted());
  const TacticResult r = search(engines);
  EXPECT_EQ(r.outcome, TacticResult::Outcome::kPasses);
  EXPECT_TRUE(r.guilty.empty());
  EXPECT_EQ(engines.checks(), 1U);
}

TEST(TacticSearch, WhatIsNotOfTheTacticsIsSaid) {
  // Not even the reference's own evaluation is so exact.
  SearchedEngines engines(network({}, "wrong"), AccuracyGoal::parse("300dB"), estimated(), with_planted());
  EXPECT_EQ(search(engines).outcome, TacticResult::Outcome::kNotTactics);
}

TEST(TacticSearch, NoCheckIsMadeTwiceAfterAnInterruption) {
  SearchedEngines engines(network({3}, "wrong"), {}, estimated(), with_planted());
  const TacticResult first = search(engines);
  engines.begin();
  EXPECT_EQ(guilty_nodes(search(engines)), guilty_nodes(first));
  EXPECT_EQ(engines.checks(), 0U);
}

}  // namespace
}  // namespace assay::debug::tactic_search_test
