#include "script/item.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "script/script_test_util.h"

namespace assay::script::item_test {
namespace {

Item read(const std::string& header, const std::string& body = "") {
  size_t at = 0;
  return decode(header, [&](void* data, size_t bytes) {
    if (at + bytes > body.size()) fail(ErrorCode::kInvalidArgument, "the body ends too early");
    std::memcpy(data, body.data() + at, bytes);
    at += bytes;
  });
}

Item there_and_back(const Item& item) {
  const Message message = encode(item);
  std::string body;
  for (const std::string_view piece : message.body) body += piece;
  EXPECT_EQ(body.size(), message.body_bytes());
  return read(message.header, body);
}

TEST(ScriptItem, ThereAndBack) {
  const Item::Dict dict = {{"b", true},      {"a", int64_t{-5}},
                           {"", 1.5},        {"t\"\n\xc3\xbc", "text\x01"},
                           {"null", Item()}, {"list", Item::List{int64_t{1}, Item::List{}, Item::Dict{}}}};
  const Item out = there_and_back(dict);
  ASSERT_EQ(out.dict().size(), dict.size());
  EXPECT_EQ(out.dict()[0].first, "b");
  EXPECT_TRUE(out.at("b").truth());
  EXPECT_EQ(out.at("a").integer(), -5);
  EXPECT_EQ(out.at("a").number(), -5);
  EXPECT_EQ(out.at("").number(), 1.5);
  EXPECT_EQ(out.at("t\"\n\xc3\xbc").text(), "text\x01");
  EXPECT_TRUE(out.at("null").is_null());
  ASSERT_EQ(out.at("list").list().size(), 3U);
  EXPECT_TRUE(out.at("list").list()[2].is_dict());
  EXPECT_EQ(out.find("c"), nullptr);
  for (const double number : {std::numeric_limits<double>::infinity(), -1e300, 0.1})
    EXPECT_EQ(there_and_back(number).number(), number);
  EXPECT_TRUE(std::isnan(there_and_back(std::nan("")).number()));
  EXPECT_EQ(there_and_back(std::numeric_limits<int64_t>::min()).integer(),
            std::numeric_limits<int64_t>::min());
}

TEST(ScriptItem, ReadAsSomethingElse) {
  const Item item = Item::Dict{{"a", int64_t{1}}};
  expect_contains(error_of([&] { item.list(); }), {"did not send a list where it must"});
  expect_contains(error_of([&] { item.at("b"); }), {"did not send 'b' where it must"});
  expect_contains(error_of([&] { item.at("a").text(); }), {"did not send a text where it must"});
  expect_contains(error_of([&] { item.at("a").at("c"); }), {"did not send a dictionary where it must"});
}

TEST(ScriptItem, MalformedMessages) {
  for (const char* header : {"",
                             "[1",
                             "{}",
                             "[1] 2",
                             R"({"x": 1})",
                             R"({"d": [], "t": []})",
                             R"({"d": {}})",
                             R"({"d": [["a"]]})",
                             R"({"d": [["a", 1, 2]]})",
                             R"({"d": [[1, 2]]})",
                             R"({"t": []})",
                             R"({"t": [1]})",
                             R"({"t": [1, [2]]})",
                             R"({"t": [1, [2], 7]})",
                             R"({"t": [1, [2], 8, 1]})",
                             R"({"t": [99, [2], 8]})",
                             R"({"t": [0, [2], 8]})",
                             R"({"t": [1, [-1], 8]})",
                             R"({"t": [1, [4611686018427387904, 4], 8]})",
                             R"({"t": [22, [3], 2]})",
                             R"({"t": [8, [1], 0]})",
                             R"({"t": [8, [], 4294967296]})",
                             R"({"s": [1]})",
                             R"({"m": [{"s": []}]})",
                             R"({"o": [{"s": []}, {"s": []}]})",
                             R"({"m": [{"s": []}, {"s": []}]})",
                             R"(1.5e)",
                             R"(nul)"})
    EXPECT_NE(error_of([&] { read(header, std::string(64, '\xff')); }), "no error") << header;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "[";
  expect_contains(error_of([&] { read(deep); }), {"too deep"});
}

TEST(ScriptItem, ArraysBeyondTheMemoryAreAnError) {
  EXPECT_NE(error_of([&] { read(R"({"t": [1, [4611686018427387], 18446744073709548]})"); }), "no error");
}

}  // namespace
}  // namespace assay::script::item_test
