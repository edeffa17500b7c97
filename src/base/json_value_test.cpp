#include "base/json_value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"

namespace assay::json_value_test {
namespace {

TEST(JsonValue, HasEveryKind) {
  const JsonValue v =
      parse_json(R"({"a": [1, -2.5e3, NaN], "b": "t\u00e4xt", "c": true, "d": null, "a": "again"})", "f");
  ASSERT_TRUE(v.is_object());
  ASSERT_EQ(v.items_of("a").size(), 3u);
  EXPECT_EQ(v.items_of("a")[1].number, -2500);
  EXPECT_TRUE(std::isnan(v.items_of("a")[2].number));
  EXPECT_EQ(v.text_of("b"), "täxt");
  EXPECT_TRUE(v.find("c")->truth);
  EXPECT_EQ(v.find("d")->kind, JsonValue::Kind::kNull);
  EXPECT_EQ(v.members.size(), 5u) << "in the order of the file, each as it is there";
}

TEST(JsonValue, WhatIsNotThereOrOfAnotherKindIsWhatIsGiven) {
  const JsonValue v = parse_json(R"({"a": "x", "n": 3})", "f");
  EXPECT_EQ(v.find("b"), nullptr);
  EXPECT_EQ(v.text_of("n", "none"), "none");
  EXPECT_EQ(v.number_of("a", 7), 7);
  EXPECT_TRUE(v.items_of("a").empty());
  EXPECT_EQ(v.items_of("a").data(), v.items_of("b").data());
  EXPECT_EQ(parse_json("[]", "f").find("a"), nullptr);
}

TEST(JsonValue, DamageIsAnErrorThatNamesTheFile) {
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "1 2", "[1}"}) try {
      parse_json(text, "file.json");
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("file.json"), std::string::npos) << e.what();
    }
  EXPECT_THROW(parse_json(std::string(100'000, '['), "f"), Error) << "the depth is limited";
}

}  // namespace
}  // namespace assay::json_value_test
