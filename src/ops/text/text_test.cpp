#include <gtest/gtest.h>

#include "ops/op_test_util.h"
#include "ops/text/letter_case.h"

namespace assay::text_test {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

Tensor strings(const Strings& values) { return Tensor::vector(values); }
Strings list(const Tensor& t) {
  const auto s = t.span<std::string>();
  return {s.begin(), s.end()};
}

TEST(LetterCase, UnicodeSimpleMappings) {
  EXPECT_EQ(to_case("Stra\u00DFe \u00C4\u00D6\u00DC \u0416 \u03A3", LetterCase::kLower),
            "stra\u00DFe \u00E4\u00F6\u00FC \u0436 \u03C3");
  EXPECT_EQ(to_case("stra\u00DFe \u00FF \u01C6 \U00010428", LetterCase::kUpper),
            "STRA\u00DFE \u0178 \u01C4 \U00010400");
  // Every other code point of a block is a capital; those between have no other case.
  EXPECT_EQ(to_case(U'\u0101', LetterCase::kUpper), U'\u0100');
  EXPECT_EQ(to_case(U'\u0100', LetterCase::kUpper), U'\u0100');
  EXPECT_EQ(to_case(U'\u4E2D', LetterCase::kUpper), U'\u4E2D');
  EXPECT_EQ(to_case(char32_t{0x10FFFF}, LetterCase::kLower), char32_t{0x10FFFF});
}

TEST(LetterCase, TurkishHasTwoLettersI) {
  const CaseRules turkish = case_rules("tr_TR.UTF-8");
  EXPECT_EQ(to_case("i\u0131", LetterCase::kUpper, turkish), "\u0130I");
  EXPECT_EQ(to_case("I\u0130", LetterCase::kLower, turkish), "\u0131i");
  EXPECT_EQ(to_case("iI", LetterCase::kUpper, case_rules("en_US")), "II");
  EXPECT_FALSE(case_rules("trv_TW").dotless_i);
}

TEST(LetterCase, RejectsWhatIsNoUtf8) { EXPECT_THROW(to_case("gr\xFC\xDF", LetterCase::kLower), Error); }

TEST(StringConcat, Broadcasts) {
  const Tensor x = Tensor::from<std::string>({2, 1}, Strings{"a", "b"});
  const Tensor z = run_op("StringConcat", 20, {x, strings({"x", "", "\u00E4"})})[0];
  EXPECT_EQ(z.shape(), (Shape{2, 3}));
  EXPECT_EQ(list(z), (Strings{"ax", "a", "a\u00E4", "bx", "b", "b\u00E4"}));
}

TEST(StringConcat, RefusesAResultBeyondAllMemory) {
  const Tensor x = Tensor::from<std::string>({1, 1}, Strings{std::string(1 << 20, 'x')});
  const Tensor y = Tensor::from<std::string>({1 << 20, 1}, Strings(1 << 20));
  EXPECT_THROW(run_op("StringConcat", 20, {x, y}), Error);
}

TEST(StringSplit, AtADelimiter) {
  const auto y = run_op("StringSplit", 20, {strings({"a--b--", "", "--", "abc"})},
                        {{"delimiter", std::string("--")}}, 2);
  EXPECT_EQ(y[0].shape(), (Shape{4, 3}));
  EXPECT_EQ(list(y[0]), (Strings{"a", "b", "", "", "", "", "", "", "", "abc", "", ""}));
  EXPECT_EQ(y[1].to_int64(), (Ints{3, 1, 2, 1}));
}

TEST(StringSplit, AtWhiteSpaceAsPythonDoes) {
  const auto y = run_op("StringSplit", 20, {strings({" a\t\n b\u2003c  ", "  ", "x"})}, {}, 2);
  EXPECT_EQ(list(y[0]), (Strings{"a", "b", "c", "", "", "", "x", "", ""}));
  EXPECT_EQ(y[1].to_int64(), (Ints{3, 0, 1}));
  const auto limited = run_op("StringSplit", 20, {strings({" a  b  c  "})}, {{"maxsplit", int64_t{1}}}, 2);
  EXPECT_EQ(list(limited[0]), (Strings{"a", "b  c  "}));
  const auto whole = run_op("StringSplit", 20, {strings({" a b "})}, {{"maxsplit", int64_t{0}}}, 2);
  EXPECT_EQ(list(whole[0]), (Strings{"a b "}));
}

TEST(StringSplit, OfNothing) {
  const auto y = run_op("StringSplit", 20, {Tensor::allocate(DType::kString, {0, 3})}, {}, 2);
  EXPECT_EQ(y[0].shape(), (Shape{0, 3, 0}));
  EXPECT_EQ(y[1].shape(), (Shape{0, 3}));
}

TEST(StringNormalizer, ComparesStopWordsInTheCaseAskedFor) {
  const AttributeList upper = {{"case_change_action", std::string("UPPER")},
                               {"stopwords", Strings{"\u00C4PFEL", "x"}}};
  const Tensor y = run_op("StringNormalizer", 10, {strings({"\u00E4pfel", "Birne", "X"})}, upper)[0];
  EXPECT_EQ(list(y), Strings{"BIRNE"});
  const AttributeList sensitive = {{"is_case_sensitive", int64_t{1}}, {"stopwords", Strings{"x"}}};
  EXPECT_EQ(list(run_op("StringNormalizer", 10, {strings({"x", "X"})}, sensitive)[0]), Strings{"X"});
}

TEST(StringNormalizer, IsNeverEmpty) {
  const Tensor x = Tensor::from<std::string>({1, 2}, Strings{"a", "A"});
  const Tensor y = run_op("StringNormalizer", 10, {x}, {{"stopwords", Strings{"a"}}})[0];
  EXPECT_EQ(y.shape(), (Shape{1, 1}));
  EXPECT_EQ(list(y), Strings{""});
}

TEST(StringNormalizer, RejectsBadInput) {
  const Tensor two_rows = Tensor::from<std::string>({2, 1}, Strings{"a", "b"});
  EXPECT_THROW(run_op("StringNormalizer", 10, {two_rows}), Error);
  EXPECT_THROW(
      run_op("StringNormalizer", 10, {strings({"a"})}, {{"case_change_action", std::string("lower")}}),
      Error);
}

TEST(RegexFullMatch, MatchesTheWholeString) {
  const AttributeList pattern = {{"pattern", std::string("(\u00E4|b)+[^x]?")}};
  const Tensor y =
      run_op("RegexFullMatch", 20, {strings({"\u00E4b", "b\u00E4\u00F6", "bax", "", "xb"})}, pattern)[0];
  EXPECT_TRUE(y.identical(Tensor::vector(std::vector<bool>{true, true, false, false, false})));
}

TEST(RegexFullMatch, IsLinearWhereBackTrackingIsExponential) {
  const AttributeList pattern = {{"pattern", std::string("(a*)*(a|aa)*b")}};
  EXPECT_FALSE(
      run_op("RegexFullMatch", 20, {strings({std::string(100000, 'a')})}, pattern)[0].data<bool>()[0]);
}

TEST(RegexFullMatch, RejectsABadPattern) {
  EXPECT_THROW(run_op("RegexFullMatch", 20, {strings({"a"})}, {{"pattern", std::string("(a")}}), Error);
  EXPECT_THROW(run_op("RegexFullMatch", 20, {strings({"a"})}, {{"pattern", std::string("(a)\\1")}}), Error);
  EXPECT_THROW(run_op("RegexFullMatch", 20, {strings({"a"})}), Error);
}

/// A pool of the 1-grams 2, 3 and the 2-grams (5 6), (2 3), (2 7).
AttributeList pool(const std::string& mode, int64_t skips) {
  return {{"mode", mode},
          {"min_gram_length", int64_t{1}},
          {"max_gram_length", int64_t{2}},
          {"max_skip_count", skips},
          {"ngram_counts", Ints{0, 2}},
          {"ngram_indexes", Ints{4, 0, 1, 2, 3}},
          {"pool_int64s", Ints{2, 3, 5, 6, 2, 3, 2, 7}}};
}

TEST(TfIdfVectorizer, CountsSingleItemsOnceAndPairsForEverySkip) {
  const Tensor x = Tensor::from<int32_t>({2, 4}, std::vector<int32_t>{2, 3, 2, 3, 5, 9, 6, 7});
  const Tensor y = run_op("TfIdfVectorizer", 9, {x}, pool("TF", 1))[0];
  // (5 6) and (2 3) with one item between count as well; (2 . 3) does not occur so.
  EXPECT_TRUE(y.identical(Tensor::from<double>({2, 5}, std::vector<double>{2, 0, 2, 0, 2, 0, 1, 0, 0, 0})));
}

TEST(TfIdfVectorizer, MaySkipAnyNumber) {
  const Tensor x = Tensor::vector<int32_t>({5, 9, 9, 6});
  const Tensor y = run_op("TfIdfVectorizer", 9, {x}, pool("TF", INT64_MAX))[0];
  EXPECT_TRUE(y.identical(Tensor::vector<double>({0, 1, 0, 0, 0})));
}

TEST(TfIdfVectorizer, WeightsBelongToTheNgramsOfThePool) {
  AttributeList attributes = pool("TFIDF", 0);
  attributes.emplace_back("weights", std::vector<float>{1, 2, 3, 4, 5});
  const Tensor x = Tensor::vector(Ints{2, 3, 3, 2, 7});
  const Tensor y = run_op("TfIdfVectorizer", 9, {x}, attributes)[0];
  EXPECT_TRUE(y.identical(Tensor::vector(std::vector<double>{4, 0, 4, 5, 2})));
  attributes[0].second = std::string("IDF");
  EXPECT_TRUE(run_op("TfIdfVectorizer", 9, {x}, attributes)[0].identical(
      Tensor::vector(std::vector<double>{2, 0, 4, 5, 1})));
}

TEST(TfIdfVectorizer, ManySkipsEndWithTheRow) {
  const Tensor x = Tensor::vector(Ints{2, 0, 0, 3});
  const Tensor y = run_op("TfIdfVectorizer", 9, {x}, pool("TF", INT64_MAX - 1))[0];
  EXPECT_TRUE(y.identical(Tensor::vector(std::vector<double>{1, 0, 1, 0, 1})));
}

TEST(TfIdfVectorizer, RejectsBadPools) {
  const Tensor x = Tensor::vector(Ints{2});
  const auto with = [&](const char* name, Attribute::Data value) {
    AttributeList attributes = pool("TF", 0);
    for (auto& [n, v] : attributes)
      if (n == name) v = value;
    return run_op("TfIdfVectorizer", 9, {x}, attributes);
  };
  EXPECT_THROW(with("mode", std::string("DF")), Error);
  EXPECT_THROW(with("ngram_counts", Ints{0, 3}), Error);
  EXPECT_THROW(with("ngram_counts", Ints{0, 99}), Error);
  EXPECT_THROW(with("ngram_counts", Ints{0}), Error);
  EXPECT_THROW(with("ngram_indexes", Ints{0, 1, 2, 3, -1}), Error);
  EXPECT_THROW(with("ngram_indexes", Ints{0, 1, 2, 3}), Error);
  EXPECT_THROW(with("ngram_indexes", Ints{0, 1, 2, 3, int64_t{1} << 60}), Error);
  EXPECT_THROW(with("pool_int64s", Ints{2, 2, 5, 6, 2, 3, 2, 7}), Error);
  EXPECT_THROW(with("min_gram_length", int64_t{0}), Error);
  EXPECT_THROW(run_op("TfIdfVectorizer", 9, {strings({"a"})}, pool("TF", 0)), Error);
}

}  // namespace
}  // namespace assay::text_test
