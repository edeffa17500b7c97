#include "ops/schema.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>

#include "ops/op_set.h"

namespace assay::schema_test {
namespace {

TEST(Schema, ReadsEveryPart) {
  const Schema s = parse_schema(R"(
in  X: T
in  bias: float ?
in  rest: V ...any0
out Y: T
attr axis: int = -1
attr mode: string = "nearest"
attr pads: ints = [1, -2]
attr body: graph required
type T: @float bfloat16
type V: seq(tensor(@float_ir4)) int64)");
  EXPECT_EQ(s.min_inputs(), 1);
  EXPECT_EQ(s.max_inputs(), INT_MAX);
  EXPECT_EQ(s.input(7)->name, "rest");
  EXPECT_EQ(s.output(1), nullptr);
  EXPECT_EQ(std::get<int64_t>(*s.attribute("axis")->fallback), -1);
  EXPECT_EQ(std::get<std::vector<int64_t>>(*s.attribute("pads")->fallback), (std::vector<int64_t>{1, -2}));
  EXPECT_TRUE(s.attribute("body")->required);
  EXPECT_EQ(s.allowed_types(s.inputs[0]),
            (std::vector<std::string>{"float16", "float", "double", "bfloat16"}));
  EXPECT_EQ(s.allowed_types(s.inputs[2]).at(3), "seq(tensor(bfloat16))");
}

TEST(Schema, EveryOperatorsTextsParseAndVersionsAscend) {
  for (const OpDef* op : built_in_ops().all()) {
    int last = 0;
    for (const OpVersion& v : op->versions) {
      EXPECT_GT(v.since, last) << op->name;
      last = v.since;
      EXPECT_NO_THROW(schema_of(v)) << op->name << "-" << v.since;
      EXPECT_NE(v.infer, nullptr) << op->name;
    }
  }
}

TEST(Schema, MayBeTheSameAsAnother) {
  const Schema s = parse_schema("same as ReduceL1-18");
  EXPECT_EQ(s.inputs.size(), 2u);
  EXPECT_NE(s.attribute("noop_with_empty_axes"), nullptr);
  EXPECT_THROW(parse_schema("same as ReduceL1-17"), Error) << "no such version";
  EXPECT_THROW(parse_schema("same as ReduceL2-18"), Error) << "has none of its own";
  EXPECT_THROW(parse_schema("same as Nothing-1"), Error);
  EXPECT_THROW(parse_schema("same as "), Error);
}

/// Texts are written once.
TEST(Schema, NoTextStandsTwice) {
  std::map<std::string_view, std::string> labels;
  for (const OpDef* op : built_in_ops().all())
    for (const OpVersion& v : op->versions) {
      if (v.schema.starts_with("same as ")) continue;
      const auto [it, is_new] = labels.emplace(v.schema, fmt::format("{}-{}", op->name, v.since));
      EXPECT_TRUE(is_new) << op->name << '-' << v.since << " is the same as " << it->second;
    }
}

TEST(Schema, NamesTheLineItCannotRead) {
  try {
    parse_schema("in X T");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("in X T"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::schema_test
