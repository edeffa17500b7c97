#include "ops/op_set.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "assay/io.h"
#include "graph/clone.h"

namespace assay::op_set_test {
namespace {

constexpr OpVersion kVersions[] = {{1, "in X: T\nout Y: T\ntype T: float", nullptr, nullptr},
                                   {7, "in X: T\nout Y: T\ntype T: float double", nullptr, nullptr}};
constexpr OpDef kMine{.domain = "mine", .name = "Relu", .versions = kVersions};

TEST(OpSet, FindsWhatWasAdded) {
  OpSet set;
  EXPECT_EQ(set.find("", "Relu"), nullptr);
  set.add(kMine);
  EXPECT_EQ(set.find("mine", "Relu"), &kMine);
  EXPECT_EQ(set.find("", "Relu"), nullptr);
  EXPECT_EQ(set.newest_opset("mine"), 7);
  EXPECT_EQ(set.newest_opset(""), 0);
  EXPECT_THROW(set.add(kMine), Error) << "twice";
  EXPECT_THROW(set.add(OpDef{.domain = "mine", .name = "Empty"}), Error) << "no version";
  ASSERT_EQ(set.all().size(), 1U);
}

TEST(OpSet, OneIsExtendedWithoutTheOthers) {
  OpSet set = built_in_ops();
  set.add(kMine);
  EXPECT_NE(set.find("ai.onnx", "Relu"), nullptr);
  EXPECT_NE(set.find("ai.onnx", "Relu"), &kMine);
  EXPECT_EQ(set.all().size(), built_in_ops().all().size() + 1);
  EXPECT_EQ(built_in_ops().find("mine", "Relu"), nullptr);
}

TEST(OpSet, KeepsTheOwnerOfADefinition) {
  const auto owner = std::make_shared<OpDef>(kMine);
  {
    OpSet set;
    set.add(*owner, owner);
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(OpSet, AModelHasOneAndItsCopiesToo) {
  Model model;
  EXPECT_EQ(&ops_of(model), &built_in_ops());
  auto set = std::make_shared<OpSet>(built_in_ops());
  set->add(kMine);
  model.ops = set;
  EXPECT_EQ(&ops_of(model), set.get());
  EXPECT_EQ(&ops_of(*clone_model(model)), set.get());
  EXPECT_EQ(&ops_of(scope_of(model, {{"mine", 7}})), set.get());
}

}  // namespace
}  // namespace assay::op_set_test
