#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"

namespace assay::json_writer_test {
namespace {

template <typename Body>
std::string written(Body body) {
  std::string out;
  JsonWriter json([&](std::string_view text) { out += text; });
  body(json);
  return out;
}

TEST(JsonWriter, LaysOutAsPython) {
  const std::string text = written([](JsonWriter& j) {
    j.begin_object();
    j.key("a").value(1);
    j.key("empty").begin_array().end_array();
    j.key("none").begin_object().end_object();
    j.key("list")
        .begin_array()
        .value(0.1)
        .value("x")
        .null()
        .value(true)
        .begin_array()
        .value(false)
        .end_array()
        .end_array();
    j.end_object();
  });
  EXPECT_EQ(text, R"({
    "a": 1,
    "empty": [],
    "none": {},
    "list": [
        0.1,
        "x",
        null,
        true,
        [
            false
        ]
    ]
})");
}

TEST(JsonWriter, FitsIntoAScriptElement) {
  std::string text;
  JsonWriter j([&](std::string_view piece) { text += piece; }, JsonStyle::kScript);
  j.begin_object();
  j.key("</script><!--").value("<b>\n\xff</script>");
  j.key("list")
      .begin_array()
      .value(1)
      .value(NAN)
      .value(INFINITY)
      .value(-INFINITY)
      .value(0.5)
      .null()
      .end_array();
  j.key("none").begin_object().end_object();
  j.end_object();
  EXPECT_EQ(
      text,
      R"({"\u003c/script>\u003c!--":"\u003cb>\n\udcff\u003c/script>","list":[1,"NaN","Infinity","-Infinity",0.5,null],"none":{}})");
}

TEST(JsonWriter, ScalarsStandAlone) {
  EXPECT_EQ(written([](JsonWriter& j) { j.value(int64_t{-5}); }), "-5");
  EXPECT_EQ(written([](JsonWriter& j) { j.value("x"); }), "\"x\"");
}

TEST(JsonWriter, FloatsAsPythonsRepr) {
  const auto text = [](double v) { return written([v](JsonWriter& j) { j.value(v); }); };
  EXPECT_EQ(text(0.00039458274841308594), "0.00039458274841308594");
  EXPECT_EQ(text(1), "1.0");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(1e22), "1e+22");
  EXPECT_EQ(text(NAN), "NaN");
  EXPECT_EQ(text(-INFINITY), "-Infinity");
}

TEST(JsonWriter, EscapesEverythingOutsidePrintableAscii) {
  EXPECT_EQ(json_quoted("a\"b\\c/\n\r\t\f\b\x01\x7f"), R"("a\"b\\c/\n\r\t\f\b\u0001\u007f")");
  EXPECT_EQ(json_quoted("é日😀"), R"("\u00e9\u65e5\ud83d\ude00")");
  // Bytes that are not UTF-8, as Python's surrogateescape has them.
  EXPECT_EQ(json_quoted("\xff"
                        "a\xc3"),
            R"("\udcffa\udcc3")");
  EXPECT_EQ(json_quoted("\xc0\x80"), R"("\udcc0\udc80")");
}

TEST(JsonWriter, StreamsBase64) {
  const std::string data(200000, 'x');
  const std::string text = written([&](JsonWriter& j) {
    j.begin_array().begin_base64();
    j.base64_chunk("foo", 1).base64_chunk("oob", 3).base64_chunk(data.data(), data.size());
    j.end_base64().value(1).end_array();
  });
  EXPECT_EQ(text, "[\n    \"" + base64_encode("foob" + data) + "\",\n    1\n]");
}

TEST(JsonWriter, RefusesWhatIsNoDocument) {
  EXPECT_THROW(written([](JsonWriter& j) { j.begin_object().value(1); }), Error);
  EXPECT_THROW(written([](JsonWriter& j) { j.begin_array().key("a"); }), Error);
  EXPECT_THROW(written([](JsonWriter& j) { j.begin_array().end_object(); }), Error);
  EXPECT_THROW(written([](JsonWriter& j) { j.begin_object().key("a").end_object(); }), Error);
  EXPECT_THROW(written([](JsonWriter& j) { j.value(1).value(2); }), Error);
  EXPECT_THROW(written([](JsonWriter& j) { j.begin_array().begin_base64().value(2); }), Error);
}

}  // namespace
}  // namespace assay::json_writer_test
