#include "engine/runtime/step_fields.h"

#include <gtest/gtest.h>

namespace assay::engine::step_fields_test {
namespace {

enum class Way : uint8_t { kUp, kDown };
constexpr std::string_view kWays[] = {"up", "down"};

struct StepFields {
  size_t axes = 2;
  int64_t count = 3;
  bool flag = true;
  float real = 0.5F;
  Way way = Way::kDown, named = Way::kDown;
  std::array<int64_t, 2> pair = {4, 5};
  std::vector<int64_t> strides = {1, 2};
  std::vector<std::string> words = {"a"};
  std::optional<int64_t> there = 7, absent;

  void fields(FieldVisitor& visit) {
    visit("count", count, {1, 9});
    visit("flag", flag);
    visit("real", real);
    visit("way", way, Way::kDown);
    visit("named", named, kWays, "'{}' is no way");
    visit("pair", pair, {0, 9});
    visit("strides", strides, axes, kPositive);
    visit("words", words);
    visit("there", there, Bounds{0, 9});
    visit("absent", absent, Bounds{0, 9});
  }
};

/// The sentence that reading ends with after this parameter was set.
std::string said(const std::string& name, const Parameter& value) {
  Parameters p;
  write_fields(StepFields(), p);
  p.set(name, value);
  try {
    StepFields read;
    FieldReader reader(p);
    read.fields(reader);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

TEST(StepFields, WhatIsWrittenIsRead) {
  Parameters p;
  write_fields(StepFields{.count = 9, .flag = false, .real = 0.25F, .way = Way::kUp, .named = Way::kUp}, p);
  EXPECT_EQ(p.entries().size(), 9U);
  EXPECT_EQ(p.text("named"), "up");
  StepFields read{.there = std::nullopt, .absent = 1};
  FieldReader reader(p);
  read.fields(reader);
  EXPECT_EQ(read.count, 9);
  EXPECT_FALSE(read.flag);
  EXPECT_EQ(read.real, 0.25F);
  EXPECT_EQ(read.way, Way::kUp);
  EXPECT_EQ(read.named, Way::kUp);
  EXPECT_EQ(read.there, 7);
  EXPECT_FALSE(read.absent.has_value());
}

TEST(StepFields, WhatDoesNotFitIsNamed) {
  const std::pair<std::pair<const char*, Parameter>, const char*> cases[] = {
      {{"count", int64_t{0}}, "its parameter 'count' is 0"},
      {{"count", int64_t{10}}, "its parameter 'count' is 10"},
      {{"count", 1.0}, "its parameter 'count' is missing or of another kind"},
      {{"flag", int64_t{2}}, "its parameter 'flag' is 2"},
      {{"way", int64_t{2}}, "its parameter 'way' is 2"},
      {{"named", std::string("left")}, "'left' is no way"},
      {{"pair", std::vector<int64_t>{1}}, "its parameter 'pair' has 1 numbers, not 2"},
      {{"strides", std::vector<int64_t>{1, 0}}, "its parameter 'strides' holds 0"},
      {{"absent", int64_t{10}}, "its parameter 'absent' is 10"},
      {{"absent", int64_t{9}}, "nothing"}};
  for (const auto& [forgery, sentence] : cases)
    EXPECT_NE(said(forgery.first, forgery.second).find(sentence), std::string::npos)
        << said(forgery.first, forgery.second);
}

}  // namespace
}  // namespace assay::engine::step_fields_test
