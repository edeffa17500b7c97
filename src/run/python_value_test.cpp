#include "run/python_value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "run/python_parse.h"

namespace assay::python_value_test {
namespace {

TEST(PythonParse, Integers) {
  EXPECT_EQ(python_int("1"), 1);
  EXPECT_EQ(python_int("+3"), 3);
  EXPECT_EQ(python_int("-3"), -3);
  EXPECT_EQ(python_int("1_000"), 1000);
  EXPECT_EQ(python_int(" 7\t"), 7);
  for (const char* bad : {"", " ", "+", "-", "+-3", "--3", "1__0", "_1", "1_", "0x10", "1.0", "1e3", "true",
                          "99999999999999999999"})
    EXPECT_FALSE(python_int(bad)) << bad;
}

TEST(PythonParse, Floats) {
  EXPECT_EQ(python_float("1."), 1.0);
  EXPECT_EQ(python_float(".5"), 0.5);
  EXPECT_EQ(python_float("1e-5"), 1e-5);
  EXPECT_EQ(python_float("-1_0.5E+1"), -105.0);
  EXPECT_EQ(python_float("1e999"), INFINITY);
  EXPECT_EQ(python_float("-Infinity"), -INFINITY);
  EXPECT_TRUE(std::isnan(*python_float("NaN")));
  for (const char* bad : {"", ".", "1e", "e5", "1e+", "0x1p3", "1_.5", "- 1", "1 2", "infinit"})
    EXPECT_FALSE(python_float(bad)) << bad;
}

// Expected values were produced with the real tool.
TEST(PythonValue, Cast) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1"},
      {"+3", "3"},
      {"1_000", "1000"},
      {" 7 ", "7"},
      {"1.0", "1.0"},
      {"1.", "1.0"},
      {"1e-5", "1e-05"},
      {"inf", "inf"},
      {"-inf", "-inf"},
      {"nan", "nan"},
      {"[1,2]", "[1, 2]"},
      {"[1,2", "[1, 2]"},
      {"1,2]", "[1, 2]"},
      {"[]", "['']"},
      {"[1,,2]", "[1, '', 2]"},
      {"[[1,2],[3]]", "[1, [2], [3]]"},
      {"[1, 2.5,a]", "[1, 2.5, 'a']"},
      {"'53'", "'53'"},
      {"\"a\"", "'a'"},
      {"0x10", "'0x10'"},
      {"true", "'true'"},
      {"", "''"},
      {"['0','1']", "['0', '1']"},
  };
  for (const auto& [word, repr] : cases) EXPECT_EQ(python_cast(word).repr(), repr) << word;
}

TEST(PythonValue, NumbersAndTuples) {
  EXPECT_EQ(python_cast("-2.9").as_int(), -2);
  EXPECT_EQ(python_cast("1e300").as_int(), INT64_MAX);
  EXPECT_EQ(python_cast("3").as_double(), 3.0);
  EXPECT_EQ(python_cast("x").str(), "x");
  EXPECT_EQ(python_tuple(*python_cast("[5]").list()), "(5,)");
  EXPECT_EQ(python_tuple(*python_cast("[0,1.5]").list()), "(0, 1.5)");
}

}  // namespace
}  // namespace assay::python_value_test
