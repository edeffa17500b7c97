#include "base/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::utf8_test {
namespace {

std::vector<char32_t> points(std::string_view text) {
  std::vector<char32_t> out;
  while (!text.empty()) out.push_back(take_code_point(text));
  return out;
}

TEST(Utf8, EveryCodePointSurvivesTheRoundTrip) {
  for (char32_t p = 0; p <= 0x10FFFF; ++p) {
    if (p >= 0xD800 && p <= 0xDFFF) continue;
    std::string text;
    append_code_point(text, p);
    ASSERT_EQ(text.size(), p < 0x80 ? 1u : p < 0x800 ? 2u : p < 0x10000 ? 3u : 4u);
    ASSERT_EQ(points(text), std::vector<char32_t>{p});
  }
}

TEST(Utf8, BrokenBytesAreTakenOneByOne) {
  EXPECT_EQ(points("a\x80z"), (std::vector<char32_t>{'a', kNotUtf8, 'z'}));
  EXPECT_EQ(points("\xC3"), std::vector<char32_t>{kNotUtf8});                                // cut off
  EXPECT_EQ(points("\xE2\x82z"), (std::vector<char32_t>{kNotUtf8, kNotUtf8, 'z'}));          // cut short
  EXPECT_EQ(points("\xC0\x80"), (std::vector<char32_t>{kNotUtf8, kNotUtf8}));                // overlong
  EXPECT_EQ(points("\xED\xA0\x80"), (std::vector<char32_t>{kNotUtf8, kNotUtf8, kNotUtf8}));  // surrogate
  EXPECT_EQ(points("\xF4\x90\x80\x80").front(), kNotUtf8);                                   // past 0x10FFFF
  EXPECT_FALSE(is_utf8("gr\xFC\xDF"));
  EXPECT_TRUE(is_utf8("gr\xC3\xBC\xC3\x9F"));
}

TEST(Utf8, SurrogatesAreTakenOnDemand) {
  std::string_view text = "\xED\xB2\x80";
  EXPECT_EQ(take_code_point(text, Surrogates::kTaken), char32_t{0xDC80});
  EXPECT_TRUE(text.empty());
  text = "\xE0\x9F\xBF";  // overlong
  EXPECT_EQ(take_code_point(text, Surrogates::kTaken), kNotUtf8);
}

TEST(Utf8, CharactersAreCountedAndNotCut) {
  const std::string text = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(count_characters(text), 4u);
  std::vector<size_t> kept;
  for (size_t most = 0; most <= text.size() + 1; ++most) kept.push_back(utf8_prefix(text, most).size());
  EXPECT_EQ(kept, (std::vector<size_t>{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10}));
}

}  // namespace
}  // namespace assay::utf8_test
