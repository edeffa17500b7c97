#include "console/text_wrap.h"

#include <gtest/gtest.h>

namespace assay::text_wrap_test {
namespace {

TEST(TextWrap, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("[I] one two three four\n", 14), "[I] one two\n    three four\n");
  EXPECT_EQ(wrapped("[I]     one two three\n", 18), "[I]     one two\n      three\n");
  EXPECT_EQ(wrapped("short\n\nlines\n", 5), "short\n\nlines\n");
}

TEST(TextWrap, KeepsBlanksInsideALine) {
  EXPECT_EQ(wrapped("[I] a    b  c\n", 13), "[I] a    b  c\n");
  EXPECT_EQ(wrapped("[I] aaaa    bbbb  c\n", 12), "[I] aaaa\n    bbbb  c\n");
}

TEST(TextWrap, KeepsWideWordsWhole) {
  EXPECT_EQ(wrapped("[I] see /a/very/long/path now\n", 12), "[I] see\n    /a/very/long/path\n    now\n");
  EXPECT_EQ(wrapped("aaaaaaaaaa\n", 4), "aaaaaaaaaa\n");
}

TEST(TextWrap, IndentsLessWhereAWordNeedsIt) {
  EXPECT_EQ(wrapped("[I]             a_long_name\n", 18), "[I]   a_long_name\n");
  EXPECT_EQ(wrapped("            a_long_name\n", 18), "      a_long_name\n");
  EXPECT_EQ(wrapped("[I]             short\n", 24), "[I]             short\n");
}

TEST(TextWrap, CountsCharacters) {
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\n", 5), "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\n");
}

TEST(TextWrap, AnyWidth) {
  EXPECT_EQ(wrapped("[I] a b c\n", 0), "[I] a b c\n");
  for (size_t width = 1; width < 30; ++width) {
    std::string without;
    for (const char c : wrapped("[I]   one two  three\n[E] four\n", width))
      if (c != ' ' && c != '\n') without += c;
    EXPECT_EQ(without, "[I]onetwothree[E]four") << width;
  }
}

}  // namespace
}  // namespace assay::text_wrap_test
