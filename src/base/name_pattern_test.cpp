#include "base/name_pattern.h"

#include <gtest/gtest.h>

#include <vector>

#include "assay/error.h"

namespace assay::name_pattern_test {
namespace {

TEST(NamePattern, IsANameAGlobOrARegularExpression) {
  EXPECT_TRUE(NamePattern("a.b").matches("a.b"));
  EXPECT_FALSE(NamePattern("a.b").matches("axb"));
  EXPECT_FALSE(NamePattern("a").matches("ab"));
  EXPECT_TRUE(NamePattern("conv*").matches("conv/1:0"));
  EXPECT_TRUE(NamePattern("c?n[a-v]").matches("conv"));
  EXPECT_TRUE(NamePattern("[!x]*").matches("abc"));
  EXPECT_TRUE(NamePattern("a\\*").matches("a\\b"));  // no escapes
  EXPECT_TRUE(NamePattern("re:conv[0-9]+").matches("conv12"));
  EXPECT_FALSE(NamePattern("re:conv").matches("conv12"));  // the whole name
}

TEST(NamePattern, RefusesAWrongExpression) {
  try {
    NamePattern("re:(");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(std::string(e.what()).starts_with("'re:(' is not a regular expression: ")) << e.what();
  }
}

TEST(NamePattern, TheNameItselfComesFirstThenTheLastThatFits) {
  std::vector<NamePattern> list;
  for (const char* spec : {"x*", "x[0]", "*"}) list.emplace_back(spec);
  const auto found = [&](std::string_view name) -> std::string {
    const NamePattern* p = find_match(std::span<const NamePattern>(list), name,
                                      [](const auto& n) -> const NamePattern& { return n; });
    return p != nullptr ? p->spec() : "";
  };
  EXPECT_EQ(found("x[0]"), "x[0]");
  EXPECT_EQ(found("x*"), "x*");
  EXPECT_EQ(found("xy"), "*");
  list.pop_back();
  EXPECT_EQ(found("xy"), "x*");
  EXPECT_EQ(found("y"), "");
}

TEST(NamePattern, SuggestsNames) {
  const std::vector<std::string> names = {"conv_a", "pool"};
  EXPECT_EQ(spec_hint("conv_b", names), "Did you mean 'conv_a'?");
  EXPECT_EQ(spec_hint("re:^convv_.*$", names), "Did you mean 'conv_a'?");
  EXPECT_EQ(spec_hint("convv_[a-z]", names), "Did you mean 'conv_a'?");
  EXPECT_EQ(spec_hint("zzz*", names), "");
}

}  // namespace
}  // namespace assay::name_pattern_test
