#include "convert/steps.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "assay/error.h"
#include "ops/op_set.h"

namespace assay::steps_test {
namespace {

/// Every step of every operator is classified, and nothing else is.
TEST(Steps, AreThoseOfTheOperators) {
  std::set<std::string> of_operators, listed;
  for (const OpDef* op : built_in_ops().all())
    for (size_t i = 1; i < op->versions.size(); ++i)
      of_operators.insert(fmt::format("{}::{}-{}", op->domain, op->name, op->versions[i].since));
  for (const OpSteps& op : all_steps())
    for (const Step& s : op.steps) {
      const bool is_new = listed.insert(fmt::format("{}::{}-{}", op.domain, op.name, s.since)).second;
      EXPECT_TRUE(is_new) << op.name << " " << s.since;
    }
  EXPECT_EQ(of_operators, listed);
  EXPECT_GT(listed.size(), 400U);
}

TEST(Steps, NameEveryAdapter) {
  std::set<std::string_view> used, known;
  for (const OpSteps& op : all_steps())
    for (const Step& s : op.steps)
      if (s.adapter != nullptr) used.insert(s.adapter->name);
#define ASSAY_ADAPTER(id)            \
  known.insert(adapter_##id.name);   \
  EXPECT_EQ(adapter_##id.name, #id); \
  EXPECT_FALSE(adapter_##id.summary.empty());
#include "convert/adapters.def"
#undef ASSAY_ADAPTER
  EXPECT_EQ(used, known);
}

TEST(Steps, AnUnlistedStepIsAnInternalError) {
  const OpDef* op = built_in_ops().find("", "Relu");
  EXPECT_THROW(step_to(*op, 5), Error);
}

TEST(Expansions, AreOlderThanTheirOperators) {
  for (const Expansion* e : all_expansions()) {
    const OpDef* op = built_in_ops().find(e->domain, e->name);
    ASSERT_NE(op, nullptr) << e->name;
    EXPECT_LT(e->opset, op->versions.front().since) << e->name;
    EXPECT_EQ(find_expansion(*op), e);
  }
}

}  // namespace
}  // namespace assay::steps_test
