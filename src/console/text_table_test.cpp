#include "console/text_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/utf8.h"

namespace assay::text_table_test {
namespace {

TextTable sample() {
  TextTable table({{"Output"}, {"Error", true}, {"Result"}});
  table.add({"y", "1.5e-05", "passed"});
  table.add({"/layer1/conv", "2", "differs"});
  return table;
}

TEST(TextTable, HasColumnsWhereTheyFit) {
  const std::string wide =
      "Output          Error  Result\n"
      "y             1.5e-05  passed\n"
      "/layer1/conv        2  differs";
  EXPECT_EQ(sample().str(0), wide);
  EXPECT_EQ(sample().str(30), wide);
}

TEST(TextTable, PutsNamesAboveWhereTheyDoNotFit) {
  EXPECT_EQ(sample().str(29),
            "Output\n"
            "    Error  Result\n"
            "y\n"
            "  1.5e-05  passed\n"
            "/layer1/conv\n"
            "        2  differs");
}

TEST(TextTable, IsAListWhereNothingFits) {
  EXPECT_EQ(sample().str(12),
            "y\n  Error: 1.5e-05\n  Result: passed\n/layer1/conv\n  Error: 2\n  Result: differs");
}

/// No word is broken or lost at any width.
TEST(TextTable, KeepsEveryWord) {
  for (size_t width = 1; width <= 200; ++width) {
    const std::string text = sample().str(width);
    for (const char* word : {"y", "1.5e-05", "passed", "/layer1/conv", "differs"})
      EXPECT_NE(text.find(word), std::string::npos) << width << "\n" << text;
    std::istringstream lines(text);
    for (std::string line; width >= 17 && std::getline(lines, line);)
      EXPECT_LE(count_characters(line), width) << text;
  }
}

TEST(TextTable, CountsCharactersAndShowsControlCharacters) {
  TextTable table({{"Name"}, {"N", true}});
  table.add({"\xc3\xa4\xc3\xb6", "1"});
  table.add({"a\x1b[31m", "2"});
  EXPECT_EQ(table.str(0), "Name       N\n\xc3\xa4\xc3\xb6         1\na\\x1b[31m  2");
}

}  // namespace
}  // namespace assay::text_table_test
