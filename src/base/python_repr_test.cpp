#include "base/python_repr.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

namespace assay::python_repr_test {
namespace {

TEST(PythonRepr, Floats) {
  EXPECT_EQ(python_float_repr(0.1), "0.1");
  EXPECT_EQ(python_float_repr(100 / 3.0), "33.333333333333336");
  EXPECT_EQ(python_float_repr(1e-5), "1e-05");
  EXPECT_EQ(python_float_repr(0.0001), "0.0001");
  EXPECT_EQ(python_float_repr(1e16), "1e+16");
  EXPECT_EQ(python_float_repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python_float_repr(-1.5e300), "-1.5e+300");
  EXPECT_EQ(python_float_repr(5e-324), "5e-324");
  EXPECT_EQ(python_float_repr(-0.0), "-0.0");
  EXPECT_EQ(python_float_repr(INFINITY), "inf");
  EXPECT_EQ(python_float_repr(-NAN), "nan");
  EXPECT_EQ(python_float_repr(0.1F), "0.1");
  EXPECT_EQ(python_float_repr(16777216.0F), "16777216.0");
}

TEST(PythonRepr, Strings) {
  EXPECT_EQ(python_str_repr("a"), "'a'");
  EXPECT_EQ(python_str_repr("it's"), "\"it's\"");
  EXPECT_EQ(python_str_repr("it's \"x\""), "'it\\'s \"x\"'");
  EXPECT_EQ(python_str_repr("a\n\t\\\x01"), "'a\\n\\t\\\\\\x01'");
  EXPECT_EQ(python_str_repr("日\xff"), "'日\\xff'");
  EXPECT_EQ(python_str_repr("\u00a0\u00e9\u200b\u3000😀\U000e0041"), "'\\xa0é\\u200b\\u3000😀\\U000e0041'");
}

TEST(PythonRepr, Lists) {
  EXPECT_EQ(python_list_repr(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(python_list_repr(std::vector<int64_t>{1, -2}), "[1, -2]");
  EXPECT_EQ(python_list_repr(std::vector<double>{0.5, 1}), "[0.5, 1.0]");
  EXPECT_EQ(python_list_repr(std::vector<std::string>{"a", "it's"}), "['a', \"it's\"]");
}

TEST(PythonRepr, FormatG) {
  EXPECT_EQ(format_g(0.359951, 5), "0.35995");
  EXPECT_EQ(format_g(0.00011437, 5), "0.00011437");
  EXPECT_EQ(format_g(1e-5, 5), "1e-05");
  EXPECT_EQ(format_g(123456, 5), "1.2346e+05");
  EXPECT_EQ(format_g(100, 3), "100");
  EXPECT_EQ(format_g(-NAN, 5), "nan");
  EXPECT_EQ(format_g(-INFINITY, 5), "-inf");
}

TEST(PythonRepr, FormatGIsThatOfC) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    const double exponent = static_cast<double>(bits % 40) - 20;
    const double values[] = {std::bit_cast<double>(bits),
                             static_cast<double>(bits % 100000) * std::pow(10, exponent)};
    for (const double v : values) {
      if (std::isnan(v)) continue;
      std::array<char, 64> expected;
      const int precision = 1 + i % 17;
      std::snprintf(expected.data(), expected.size(), "%.*g", precision, v);
      ASSERT_EQ(format_g(v, precision), expected.data());
    }
  }
}

TEST(PythonRepr, RoundedDecimalsAreExact) {
  // 0.1 is a little above itself.
  EXPECT_EQ(rounded_decimal(0.1, 17).digits, "100000000000000006");
  EXPECT_EQ(rounded_decimal(2.5, 0).digits, "2");
  EXPECT_EQ(rounded_decimal(-9.996, 2).digits, "100");
  EXPECT_EQ(rounded_decimal(-9.996, 2).exponent, 1);
  EXPECT_EQ(positional_text({true, "15", -3}), "-0.0015");
  EXPECT_EQ(scientific_text({false, "1", 100}), "1e+100");
}

}  // namespace
}  // namespace assay::python_repr_test
