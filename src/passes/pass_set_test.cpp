#include "passes/pass_set.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "passes/pass_manager.h"

namespace assay::pass_set_test {
namespace {

bool nothing(Model&) { return false; }
constexpr PassDef kMine{.name = "mine", .summary = "", .run = nothing};

TEST(PassSet, AStageRunsWhatWasAddedLast) {
  PassSet set = built_in_passes();
  const size_t before = set.stage(PassStage::kIdioms).size();
  set.add(kMine, PassStage::kIdioms);
  ASSERT_EQ(set.stage(PassStage::kIdioms).size(), before + 1);
  EXPECT_EQ(set.stage(PassStage::kIdioms).back(), &kMine);
  EXPECT_EQ(set.find("mine"), &kMine);
  EXPECT_EQ(built_in_passes().find("mine"), nullptr);
}

TEST(PassSet, ANameMeansOnePass) {
  PassSet set;
  set.add(kMine, PassStage::kIdioms);
  set.add(kMine, PassStage::kSimplify);  // the same in two places
  EXPECT_EQ(set.all().size(), 1U);
  constexpr PassDef kOther{.name = "mine", .summary = "", .run = nothing};
  EXPECT_THROW(set.add(kOther, PassStage::kIdioms), Error);
  constexpr PassDef kEmpty{.name = "empty", .summary = ""};
  EXPECT_THROW(set.add(kEmpty, PassStage::kIdioms), Error);
}

TEST(PassSet, EveryPassSaysWhenItsEditsHold) {
  for (const PassDef* pass : built_in_passes().all())
    EXPECT_TRUE(pass->conditions.ends_with('.')) << pass->name << ": " << pass->conditions;
}

TEST(PassSet, AStageLeavesOutWhatTheOpsetHasNoOperatorFor) {
  PassSet set;
  set.add(kMine, PassStage::kSimplify, /*since=*/17);
  EXPECT_TRUE(set.stage(PassStage::kSimplify, 16).empty());
  EXPECT_EQ(set.stage(PassStage::kSimplify, 17).size(), 1U);
}

TEST(PassSet, NamesOfAnotherSetAreUnknown) {
  Model model;
  EXPECT_THROW(run_passes(model, {}, {.disabled = {"mine"}}), Error);
  auto set = std::make_shared<PassSet>(built_in_passes());
  set->add(kMine, PassStage::kIdioms);
  EXPECT_NO_THROW(run_passes(model, {}, {.set = set, .disabled = {"mine"}}));
}

}  // namespace
}  // namespace assay::pass_set_test
