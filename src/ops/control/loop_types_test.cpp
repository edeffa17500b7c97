// Types inferred for values that a Loop carries and stacks.
#include <gtest/gtest.h>

#include "graph/import.h"
#include "ops/infer.h"

namespace assay::loop_types_test {
namespace {

/// The types of the outputs of a graph in ONNX's text form.
std::vector<std::string> output_types(const std::string& graph) {
  const auto model = parse_text("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph, "a test");
  infer_shapes(*model);
  std::vector<std::string> types;
  for (const Value* v : model->graph->outputs) types.push_back(v->type.str());
  return types;
}

using Types = std::vector<std::string>;

TEST(LoopTypes, ACarriedValueKeepsTheExtentsThatAnIterationKeeps) {
  EXPECT_EQ(output_types(
                "g (float[2,3] x, int64 m) => (y, u) { y, u = Loop <body = b (int64 i, bool c, s) => (d, t, "
                "t) { d = Identity (c) t = Neg (s) }> (m, \"\", x) }"),
            (Types{"float32[2, 3]", "float32[?, 2, 3]"}));
  EXPECT_EQ(output_types(
                "g (float[2,3] x, int64 m) => (y) { y = Loop <body = b (int64 i, bool c, s) => (d, t) { d = "
                "Identity (c) t = Concat <axis = 0> (s, s) }> (m, \"\", x) }"),
            (Types{"float32[?, 3]"}));
}

TEST(LoopTypes, WhatChangesInTheSecondIterationIsNotKept) {
  // The first state keeps its shape as long as the second does.
  EXPECT_EQ(
      output_types(
          "g (float[2] x, float[2] z, int64 m) => (y, w) { y, w = Loop <body = b (int64 i, bool c, s, r) "
          "=> (d, t, q) { d = Identity (c) t = Identity (r) q = Concat <axis = 0> (r, r) }> (m, \"\", "
          "x, z) }"),
      (Types{"float32[?]", "float32[?]"}));
}

TEST(LoopTypes, AConstantTripCountIsTheExtentOfStacks) {
  const char* const kRest =
      "> { y, u = Loop <body = b (int64 i, bool c, s) => (d, t, t) { d = Identity (c) t = Neg (s) }> ";
  EXPECT_EQ(output_types("g (float[2] x) => (y, u) <int64 m = {4}" + std::string(kRest) + "(m, \"\", x) }"),
            (Types{"float32[2]", "float32[4, 2]"}));
  EXPECT_EQ(output_types("g (float[2] x) => (y, u) <int64 m = {-4}" + std::string(kRest) + "(m, \"\", x) }"),
            (Types{"float32[2]", "float32[0, 2]"}));
  EXPECT_EQ(
      output_types("g (float[2] x, bool k) => (y, u) <int64 m = {4}" + std::string(kRest) + "(m, k, x) }"),
      (Types{"float32[2]", "float32[?, 2]"}));
}

TEST(LoopTypes, InsideALoopNothingIsTriedTwice) {
  // 30 nested loops end immediately.
  std::string inner = "t0 = Neg (s0) ";
  for (int i = 0; i < 30; ++i) {
    const std::string k = std::to_string(i), o = std::to_string(i + 1);
    inner = "t" + o + " = Loop <body = b" + k + " (int64 i" + k + ", bool c" + k + ", s" + k + ") => (c" + k +
            ", t" + k + ") { " + inner + "}> (m, \"\", s" + o + ") ";
  }
  EXPECT_EQ(output_types("g (float[2] s30, int64 m) => (t30) { " + inner + "}").size(), 1);
}

}  // namespace
}  // namespace assay::loop_types_test
