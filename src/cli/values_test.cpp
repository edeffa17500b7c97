#include "cli/values.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace assay::cli::values_test {
namespace {

using Words = std::vector<std::string>;

/// The critical message of the body, without its prefix; empty when it does not fail.
template <typename Body>
std::string critical_of(Body&& body) {
  const log::Capture capture;
  try {
    body();
  } catch (const log::LoggedError& e) {
    return e.what();
  }
  return "";
}

std::string text(const KeyValues& values) {
  std::string out;
  for (const auto& [key, value] : values) out += key + "=" + value.repr() + ";";
  return out;
}

TEST(Values, KeysEndAtTheLastColon) {
  EXPECT_EQ(text(parse_key_values(Words{"1e-5", "out:0:1", "y:abc", "z:"})), "=1e-05;out:0=1;y='abc';z='';");
}

TEST(Values, TheLastValueOfAKeyCounts) {
  EXPECT_EQ(text(parse_key_values(Words{"a:1", "b:2", "a:3"})), "a=3;b=2;");
}

TEST(Values, NumbersOnly) {
  EXPECT_EQ(text(parse_key_numbers("--rtol", Words{"1", "y:0.5", "z:inf"})), "=1;y=0.5;z=inf;");
  EXPECT_EQ(critical_of([] { parse_key_numbers("--rtol", Words{"y:abc"}); }),
            "--rtol: 'abc' is not a number (for output y).");
  EXPECT_EQ(critical_of([] { parse_key_numbers("--rtol", Words{"[1]"}); }), "--rtol: [1] is not a number.");
}

std::string shape_of(const std::string& word) {
  const auto shapes = parse_input_shapes("--input-shapes", Words{word});
  return shapes.at(0).name + " " + dims_str(shapes.at(0).dims);
}

TEST(Values, InputShapes) {
  EXPECT_EQ(shape_of("x:[1,3,224,224]"), "x (1, 3, 224, 224)");
  EXPECT_EQ(shape_of("Input:0:[1,3]"), "Input:0 (1, 3)");
  EXPECT_EQ(shape_of("x:['batch',-1,?]"), "x ('batch', -1, '?')");
  EXPECT_EQ(shape_of("x:[1,,2]"), "x (1, 2)");
  EXPECT_EQ(shape_of("x:[]"), "x ()");
  EXPECT_EQ(shape_of("x:"), "x ()");
  EXPECT_EQ(shape_of("in[0-9]*:[2]"), "in[0-9]* (2,)");
}

TEST(Values, WrongInputShapes) {
  for (const char* word : {"x:3", "x", "x:1x2x3", "[1,2]", "x:auto"})
    EXPECT_EQ(critical_of([&] { parse_input_shapes("--inputs", Words{word}); }),
              std::string("--inputs: could not parse ") + word +
                  ". Expected name:[extents], as in image:[1,3,224,224].");
  EXPECT_EQ(critical_of([] { parse_input_shapes("--inputs", Words{"x:[1,2.5]"}); }),
            "--inputs: in x:[1,2.5], 2.5 is not an extent; an extent is an integer, or a name.");
}

TEST(Values, ValueRanges) {
  const auto ranges = parse_value_ranges(Words{"[0,1]", "a:b:[-2,3.5]"});
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].first, "");
  EXPECT_EQ(ranges[1].first, "a:b");
  EXPECT_EQ(ranges[1].second.low->repr(), "-2");
  EXPECT_EQ(ranges[1].second.high->repr(), "3.5");
}

TEST(Values, WrongValueRanges) {
  EXPECT_EQ(critical_of([] { parse_value_ranges(Words{"X:[0,1,2]"}); }),
            "In --val-range, for input: X, expected to receive exactly 2 values, but received 3.\n"
            "Note: Option was parsed as: input: X, range: (0, 1, 2)");
  EXPECT_EQ(
      critical_of([] { parse_value_ranges(Words{"X:[0,b]"}); }),
      "In --val-range, for input: X, one or more elements of the range could not be parsed as a number.\n"
      "Note: Option was parsed as: input: X, range: (0, 'b')");
  EXPECT_EQ(critical_of([] { parse_value_ranges(Words{"abc"}); }),
            "In --val-range, for input: , expected to receive exactly 2 values, but received 3.\n"
            "Note: Option was parsed as: input: , range: ('a', 'b', 'c')");
  EXPECT_NE(critical_of([] { parse_value_ranges(Words{"x:7"}); }), "");
}

// Expected values were produced with the real tool.
TEST(Values, ByteCounts) {
  const std::pair<const char*, int64_t> cases[] = {
      {"16000000", 16000000}, {"16M", 16777216}, {"1.5G", 1610612736},
      {"1e9", 1000000000},    {"1e3K", 1024000}, {"0.5k", 512},
      {"10 M", 10485760},     {"-2", -2},        {"1KK", 1024}};
  for (const auto& [word, bytes] : cases) EXPECT_EQ(parse_byte_count(word), bytes) << word;
  for (const char* word : {"16MB", "1T", "", "K", "inf", "1e30G"})
    EXPECT_EQ(critical_of([&] { parse_byte_count(word); }),
              std::string("Could not convert ") + word +
                  " to a number of bytes. Please use either an integer (e.g. 16000000), scientific notation "
                  "(e.g. 16e6), "
                  "or a number with a valid suffix: K, M, or G (e.g. 16M).");
}

TEST(Values, Minimum) {
  EXPECT_EQ(require_at_least("--threads", 2, 1), 2);
  EXPECT_EQ(critical_of([] { require_at_least("--threads", 0, 1); }),
            "--threads: 0 is too small; it must be at least 1.");
}

}  // namespace
}  // namespace assay::cli::values_test
