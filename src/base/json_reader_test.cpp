#include "base/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"
#include "base/json_writer.h"

namespace assay::json_reader_test {
namespace {

/// Every event in one line.
std::string events(std::string_view text) {
  JsonReader r(text, "x.json");
  std::string out;
  for (;;) {
    switch (r.next()) {
      case JsonEvent::kBeginObject:
        out += '{';
        break;
      case JsonEvent::kEndObject:
        out += '}';
        break;
      case JsonEvent::kBeginArray:
        out += '[';
        break;
      case JsonEvent::kEndArray:
        out += ']';
        break;
      case JsonEvent::kKey:
        (out += r.string()) += ':';
        break;
      case JsonEvent::kString:
        (out += '\'') += std::string(r.string()) + '\'';
        break;
      case JsonEvent::kNumber:
        (out += r.number_text()) += ' ';
        break;
      case JsonEvent::kTrue:
        out += 'T';
        break;
      case JsonEvent::kFalse:
        out += 'F';
        break;
      case JsonEvent::kNull:
        out += 'N';
        break;
      case JsonEvent::kEnd:
        return out;
    }
  }
}

std::string error_of(std::string_view text) {
  try {
    events(text);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(JsonReader, GivesEveryEvent) {
  EXPECT_EQ(events(R"( {"a": [1, -2.5e+3, "x", true, false, null, {}, []], "b": NaN} )"),
            "{a:[1 -2.5e+3 'x'TFN{}[]]b:NaN }");
  EXPECT_EQ(events("3"), "3 ");
  EXPECT_EQ(events("[Infinity,-Infinity]"), "[Infinity -Infinity ]");
}

TEST(JsonReader, Unescapes) {
  EXPECT_EQ(events(R"(["\"\\\/\b\f\n\r\t", "\u00e9\u65e5\ud83d\ude00", "a\u0041b"])"),
            "['\"\\/\b\f\n\r\t''é日😀''aAb']");
  for (const std::string text : {"\xff"
                                 "a\xc3",
                                 "\xed\xa0\x80", "日\x01\x7f\"\\"}) {
    const std::string quoted = json_quoted(text);
    JsonReader r(quoted, "x");
    EXPECT_EQ(r.expect_string("it"), text);
  }
}

TEST(JsonReader, PlainStringsAreViews) {
  const std::string text = R"(["plain \u0041", "long enough to fill several words of eight"])";
  JsonReader r(text, "x");
  r.next();
  r.next();
  EXPECT_FALSE(r.string_is_plain());
  r.next();
  EXPECT_TRUE(r.string_is_plain());
  EXPECT_EQ(r.string().data(), text.data() + text.find("long"));
}

TEST(JsonReader, FindsTheEndOfAStringAtEveryOffset) {
  for (size_t n = 0; n < 40; ++n)
    for (const char* tail : {"", "\\n", "\\\""}) {
      const std::string text = "[\"" + std::string(n, 'x') + tail + "\",1]";
      EXPECT_EQ(events(text).size(), n + (*tail != 0) + 6) << text;
    }
}

TEST(JsonReader, Numbers) {
  JsonReader r("[0.1, 1e999, -1e-999, 9223372036854775807, NaN, -Infinity, 12]", "x");
  r.next();
  EXPECT_EQ(r.expect_double("d"), 0.1);
  EXPECT_EQ(r.expect_double("d"), INFINITY);
  EXPECT_EQ(r.expect_double("d"), -0.0);
  EXPECT_EQ(r.expect_int64("i"), INT64_MAX);
  EXPECT_TRUE(std::isnan(r.expect_double("d")));
  EXPECT_EQ(r.expect_double("d"), -INFINITY);
  EXPECT_EQ(r.expect_int64("i"), 12);
}

TEST(JsonReader, SkipsAndPeeks) {
  JsonReader r(R"({"a": {"b": [1, {"c": 2}]}, "d": 5, "e": [true]})", "x");
  r.expect(JsonEvent::kBeginObject, "it");
  ASSERT_TRUE(r.next_key());
  r.skip_value();
  ASSERT_TRUE(r.next_key());
  EXPECT_EQ(r.string(), "d");
  EXPECT_EQ(r.peek(), JsonEvent::kNumber);
  EXPECT_EQ(r.expect_int64("d"), 5);
  ASSERT_TRUE(r.next_key());
  r.next();
  EXPECT_TRUE(r.next_element());
  r.skip_value();
  EXPECT_FALSE(r.next_element());
  EXPECT_FALSE(r.next_key());
  EXPECT_EQ(r.next(), JsonEvent::kEnd);
}

TEST(JsonReader, ErrorsNameThePlace) {
  EXPECT_EQ(error_of(""), "the JSON document is empty [in x.json, line 1, column 1]");
  EXPECT_EQ(error_of("{\n  \"a\": 1\n  \"b\": 2}"),
            "expected ',' or '}' in JSON [in x.json, line 3, column 3]");
  EXPECT_EQ(error_of("[1, 2"), "the JSON document ends too early [in x.json, line 1, column 6]");
  EXPECT_EQ(error_of("[1] x"),
            "the JSON document is followed by something else [in x.json, line 1, column 5]");
  EXPECT_EQ(error_of("[\"ab"), "a JSON string does not end [in x.json, line 1, column 2]");
  EXPECT_EQ(error_of("[\"a\nb\"]"),
            "a JSON string holds an unescaped control character [in x.json, line 1, column 4]");
  EXPECT_EQ(error_of(R"(["\x"])"), "a JSON string holds an unknown escape [in x.json, line 1, column 3]");
  EXPECT_EQ(error_of(R"(["\u12-4"])"),
            "a JSON string holds \\u without four hexadecimal digits [in x.json, line 1, column 5]");
  EXPECT_EQ(error_of("[01]"), "a JSON number has leading zeros [in x.json, line 1, column 2]");
  EXPECT_EQ(error_of("{1: 2}"),
            "expected a key in double quotes in a JSON object [in x.json, line 1, column 2]");
  try {
    JsonReader r("[1.5]", "x.json");
    r.next();
    r.expect_int64("count");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "expected a 64-bit integer, found 1.5 [in x.json, line 1, column 2]");
  }
  try {
    JsonReader r("[\n[]]", "x.json");
    r.next();
    r.expect_string("name");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "expected a string for name, found an array [in x.json, line 2, column 1]");
  }
}

TEST(JsonReader, RefusesEverythingElseThatIsNotJson) {
  for (const char* text : {"{",
                           "[",
                           "[,]",
                           "[1,]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "tru",
                           "nul",
                           "-",
                           "1.",
                           "1e",
                           ".5",
                           "+1",
                           "'a'",
                           "[1}",
                           "{\"a\":1]",
                           "\\",
                           "\"\\",
                           "\"\\u",
                           "\"\\ud800\\u",
                           "Nan",
                           "\xef\xbb\xbf[]",
                           "0x1",
                           "--1"})
    EXPECT_NE(error_of(text), "") << text;
}

TEST(JsonReader, DepthIsLimited) {
  EXPECT_EQ(error_of(std::string(1000, '[') + std::string(1000, ']')), "");
  EXPECT_EQ(error_of(std::string(1001, '[')),
            "JSON is nested more than 1000 deep [in x.json, line 1, column 1001]");
}

TEST(JsonReader, TellsOfProgressInLongStrings) {
  const std::string text = "[\"" + std::string(40 << 20, 'a') + "\"]";
  size_t reported = 0;
  JsonReader r(text, "x", [&](std::string_view read) {
    EXPECT_EQ(read.data(), text.data() + 2 + reported);
    reported += read.size();
  });
  r.next();
  r.next();
  EXPECT_EQ(r.string().size(), size_t{40} << 20);
  EXPECT_EQ(reported, size_t{32} << 20);
}

}  // namespace
}  // namespace assay::json_reader_test
