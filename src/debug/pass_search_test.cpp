#include "debug/pass_search.h"

#include <gtest/gtest.h>

#include "debug/engine_search_test_util.h"
#include "debug/tactic_choices.h"
#include "graph/read.h"
#include "passes/pass_set.h"

namespace assay::debug::pass_search_test {
namespace {

/// Takes a Sub for an Add where its name begins with "guilty", and is right otherwise: x - c becomes x + (-c)
/// there only.
std::optional<Patch> match(const Node& n, const PassContext&) {
  if (!is_op(n, "Sub") || !n.name.starts_with("guilty")) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.add("Add", {n.input(0), n.input(1)}, {}, n.output(0));
  return patch;
}
constexpr PassDef kPlanted{.name = "planted", .summary = "-", .conditions = "-", .match = match};

/// The same on the whole model, at once.
bool negate_all(Model& m) {
  bool has_changed = false;
  for (const auto& n : m.graph->nodes())
    if (is_op(*n, "Sub") && n->name.starts_with("guilty")) {
      n->op_type = "Add";
      has_changed = true;
    }
  return has_changed;
}
constexpr PassDef kWhole{.name = "planted_whole", .summary = "-", .conditions = "-", .run = negate_all};

RuntimeOptions with(const PassDef& pass) {
  auto passes = std::make_shared<PassSet>(built_in_passes());
  passes->add(pass, PassStage::kSpecialize);
  return {.passes = std::move(passes)};
}

/// With edits before and behind it: an Identity at each place.
std::shared_ptr<Model> network(const std::vector<int>& bad, int count = 10) {
  ChainBuilder chain(Shape{4, 8});
  for (int i = 0; i < count; ++i) {
    const bool is_bad = std::find(bad.begin(), bad.end(), i) != bad.end();
    chain.product(fmt::format("product{}", i), 1.5F)
        .node("Identity", fmt::format("identity{}", i))
        .with_number("Sub", fmt::format("{}{}", is_bad ? "guilty" : "sub", i), 0.5F)
        .node("Sigmoid", fmt::format("sigmoid{}", i));
  }
  return chain.done();
}

PassResult search(SearchedEngines& engines) { return search_passes(engines(), engines.observer); }

TEST(PassSearch, TheGuiltyEditIsNamed) {
  for (const int bad : {0, 4, 9}) {
    SearchedEngines engines(network({bad}), {}, {}, with(kPlanted));
    const PassResult r = search(engines);
    ASSERT_EQ(r.outcome, PassResult::Outcome::kFound);
    EXPECT_EQ(r.guilty.pass, "planted");
    EXPECT_EQ(r.guilty.nodes, std::vector<std::string>{fmt::format("'guilty{}' (Sub)", bad)});
    EXPECT_TRUE(r.is_alone);
    EXPECT_TRUE(r.passes_without);
    EXPECT_GT(r.edits, 8U);
    // The numbers are those of BuilderConfig::max_edits.
    for (const int64_t most : {-1, 0}) {
      const Answer answer =
          engines().ask({.question = fmt::format("limited {}", most), .change = [&](BuilderConfig& c) {
                           c.max_edits = static_cast<int64_t>(r.position) + most;
                         }});
      EXPECT_EQ(answer.passed(), most < 0) << r.position;
    }
    EXPECT_LE(engines.checks(), 14U);
  }
}

TEST(PassSearch, OfTwoTheFirstIsNamed) {
  SearchedEngines engines(network({2, 6}), {}, {}, with(kPlanted));
  const PassResult r = search(engines);
  EXPECT_EQ(r.guilty.pass, "planted");
  EXPECT_FALSE(r.is_alone);
  EXPECT_TRUE(r.passes_without);
}

TEST(PassSearch, APassOnTheWholeModelIsOneEdit) {
  SearchedEngines engines(network({1, 5}), {}, {}, with(kWhole));
  const PassResult r = search(engines);
  EXPECT_EQ(r.guilty.pass, "planted_whole");
  ASSERT_EQ(r.guilty.nodes.size(), 4U) << "two nodes, before and behind";
  EXPECT_NE(r.guilty.nodes[0].find("guilty"), std::string::npos);
  EXPECT_TRUE(r.is_alone);
}

TEST(PassSearch, NothingIsFoundWhereNothingIsWrong) {
  SearchedEngines engines(network({}), {}, {}, with(kPlanted));
  EXPECT_EQ(search(engines).outcome, PassResult::Outcome::kPasses);
  SearchedEngines strict(network({}), AccuracyGoal::parse("300dB"), {}, with(kPlanted));
  EXPECT_EQ(search(strict).outcome, PassResult::Outcome::kNotPasses);
}

TEST(PassSearch, NoCheckIsMadeTwiceAfterAnInterruption) {
  SearchedEngines engines(network({3}), {}, {}, with(kPlanted));
  const PassResult first = search(engines);
  engines.begin();
  EXPECT_EQ(search(engines).guilty, first.guilty);
  EXPECT_EQ(engines.checks(), 0U);
}

TEST(PassWatch, PassesDoTheSameWhenTheyAreWatched) {
  SearchedEngines engines(network({}), {}, {});
  const auto all = std::make_shared<PassSet>(built_in_passes());
  const PassWatch watch(all, [](size_t, const WatchedEdit&) { return true; });
  /// Regions of the plan with what they run, and the number of edits.
  const auto built_with = [&](const std::shared_ptr<const PassSet>& passes) {
    ChoiceRecorder recorder;
    return engines().build(
        {.change = [&](BuilderConfig& c) { c.algorithm_selector = &recorder; }, .passes = passes}, [&] {
          std::string text;
          for (const auto& [layer, algorithm] : recorder.replay())
            text += layer + ": " + algorithm.name + "\n";
          return fmt::format("{}{}", text, passes != nullptr && watch.edits().empty() ? "none" : "");
        });
  };
  EXPECT_EQ(built_with(watch.set()), built_with(nullptr));
}

}  // namespace
}  // namespace assay::debug::pass_search_test
