#include "base/visible_text.h"

#include <gtest/gtest.h>

namespace assay::visible_text_test {
namespace {

TEST(VisibleText, ShowsWhatActsOnATerminal) {
  EXPECT_EQ(visible_text("a\x1b[2J\a\r\x7f\tb", Lines::kOne), "a\\x1b[2J\\x07\\r\\x7f\tb");
  EXPECT_EQ(visible_text("\xc2\x9b"
                         "2J \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\xa8",
                         Lines::kOne),
            "\\x9b2J \\u202e \\u2066 \\u2028");
  EXPECT_EQ(visible_text("\x9b\xff", Lines::kOne), "\\x9b\\xff");
  EXPECT_EQ(visible_text(std::string_view("a\0b", 3), Lines::kOne), "a\\x00b");
}

TEST(VisibleText, LeavesTextAlone) {
  const std::string text = "größe, 模型, \xf0\x9f\x98\x80, a\\nb, \xc2\xa0";
  EXPECT_EQ(visible_text(text, Lines::kOne), text);
}

TEST(VisibleText, KeepsLinesOnRequest) {
  EXPECT_EQ(visible_text("a\nb", Lines::kMany), "a\nb");
  EXPECT_EQ(visible_text("a\nb", Lines::kOne), "a\\nb");
}

}  // namespace
}  // namespace assay::visible_text_test
