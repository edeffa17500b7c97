#include "run/equivalence.h"

#include <gtest/gtest.h>

#include "graph/clone.h"
#include "graph/import.h"

namespace assay::equivalence_test {
namespace {

std::string difference(const char* text, EquivalenceOptions options) {
  const std::shared_ptr<Model> model = parse_text(text, "text");
  return find_difference(model, clone_model(*model), options);
}

constexpr const char* kTwoInputs = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 4] a, float[n, 4] b) => (float[n, 4] y) { y = Add (a, b) })";

TEST(Equivalence, TheShapeOfOneInputSaysWhatTheSymbolsOfTheOthersAre) {
  EquivalenceOptions options;
  options.data.shapes = {{.name = "a", .dims = {Dim(9), Dim(4)}}};
  EXPECT_EQ(difference(kTwoInputs, options), "");
}

constexpr const char* kIndices = R"(<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] i) => (float[2] y) <float[3] table = {1, 2, 3}> { y = Gather (table, i) })";

TEST(Equivalence, LoadedInputsReplaceGeneratedOnes) {
  EquivalenceOptions options;
  options.data.seed = 3;
  options.trials = 0;
  EXPECT_THROW(difference(kIndices, options), Error) << "no trial at all";
  options.loaded = {{{"i", Tensor::vector<int64_t>({2, -3})}}};
  EXPECT_EQ(difference(kIndices, options), "");
  options.loaded = {{{"j", Tensor::vector<int64_t>({2, -3})}}};
  EXPECT_THROW(difference(kIndices, options), Error) << "an input that is not loaded";
}

/// The counterexample to replacing the first model by the second.
std::string against(const std::string& original, const std::string& changed, int64_t opset = 17) {
  const auto model = [&](const std::string& graph) -> std::shared_ptr<Model> {
    return parse_text("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> " + graph,
                      "text");
  };
  EquivalenceOptions options;
  return find_difference(model(original), model(changed), options);
}

struct Change {
  const char *original, *changed;
};

/// None of these differences shows on numbers in [0, 1), or on the integers 0 and 1.
TEST(Equivalence, WrongRewritesAreFound) {
  constexpr Change kWrong[] = {
      {"g (float[n] x) => (float[n] y) <float a = {1e-25}> { t = Mul (x, a) y = Mul (t, a) }",
       "g (float[n] x) => (float[n] y) <float a = {0}> { y = Mul (x, a) }"},
      {"g (float[n] x) => (float[n] y) <float a = {1e30}> { t = Mul (x, a) y = Div (t, a) }",
       "g (float[n] x) => (float[n] y) <float a = {1e-30}> { y = Mul (x, a) }"},
      {"g (float[n] x) => (float[n] y) <float m = {12582912}, float s = {0.5}> { q = Div (x, s) t = Add (q, "
       "m) r "
       "= Sub (t, m) y = Mul (r, s) }",
       "g (float[n] x) => (float[n] y) { y = Identity (x) }"},
      {"g (float16[6] x) => (float16[6] y) <float m = {-60000}> { c = Cast <to = 10> (m) t = Add (x, c) y = "
       "Sub "
       "(t, c) }",
       "g (float16[6] x) => (float16[6] y) { y = Identity (x) }"},
      {"g (int32[4,2,2] x) => (int32[4,1,1] y) { p = ReduceMean <axes = [2], keepdims = 1> (x) y = "
       "ReduceMean "
       "<axes = [1], keepdims = 1> (p) }",
       "g (int32[4,2,2] x) => (int32[4,1,1] y) { y = ReduceMean <axes = [1, 2], keepdims = 1> (x) }"},
      {"g (float[n] x) => (float[n] y) { y = Relu (x) }",
       "g (float[n] x) => (float[n] y) { y = Identity (x) }"},
      {"g (float[n] x) => (float[n] y) { y = Abs (x) }", "g (float[n] x) => (float[n] y) { y = Relu (x) }"},
      {"g (float[n] x) => (float[n] y) <float b = {6}> { z = Identity (b) y = Min (x, z) }",
       "g (float[n] x) => (float[n] y) { y = Identity (x) }"},
      {"g (float[n] x) => (float[n] y) <float b = {1000}> { y = Min (x, b) }",
       "g (float[n] x) => (float[n] y) { y = Identity (x) }"},
      {"g (int64[n] x) => (int64[n] y) <int64 b = {3}> { t = Div (x, b) y = Mul (t, b) }",
       "g (int64[n] x) => (int64[n] y) { y = Identity (x) }"},
      {"g (int8[n] x) => (int8[n] y) { y = Abs (x) }",
       "g (int8[n] x) => (int8[n] y) <int8 z = {0}> { y = Max (x, z) }"},
      {"g (float[n,m] x) => (float[m,n] y) { y = Transpose <perm = [1, 0]> (x) }",
       "g (float[n,m] x) => (float[m,n] y) { s = Shape (x) a = Constant <value_ints = [1]> () b = Constant "
       "<value_ints = [0]> () p = Gather <axis = 0> (s, a) q = Gather <axis = 0> (s, b) t = Concat <axis = "
       "0> "
       "(p, q) y = Reshape (x, t) }"},
      {"g (float[n] x) => (bool[n] y) { y = IsNaN (x) }",
       "g (float[n] x) => (bool[n] y) <float b = {0}> { t = Mul (x, b) y = Cast <to = 9> (t) }"},
      {"g (float[n] x) => (float[n] y) { t = Exp (x) s = ReduceSum (t) y = Div (t, s) }",
       "g (float[n] x) => (float[n] y) { t = Exp (x) s = ReduceSum (t) r = Neg (s) y = Div (t, r) }"},
  };
  for (const Change& c : kWrong) EXPECT_NE(against(c.original, c.changed), "") << c.original;
}

TEST(Equivalence, RightRewritesPass) {
  constexpr Change kRight[] = {
      {"g (float[n] x) => (float[n] y) <float a = {3}, float b = {5}> { t = Mul (x, a) y = Mul (t, b) }",
       "g (float[n] x) => (float[n] y) <float a = {15}> { y = Mul (x, a) }"},
      {"g (float[n] x) => (float[n] y) { t = Relu (x) y = Relu (t) }",
       "g (float[n] x) => (float[n] y) { y = Relu (x) }"},
      {"g (float[n,m] x) => (float[n,m] y) { t = Transpose <perm = [1, 0]> (x) y = Transpose <perm = [1, 0]> "
       "(t) }",
       "g (float[n,m] x) => (float[n,m] y) { y = Identity (x) }"},
      // Sums in another order; where they cancel, rounding explains much.
      {"g (float[n,8] x) => (float[n,8] y) <float a = {0.1}> { t = Add (x, a) y = Sub (t, x) }",
       "g (float[n,8] x) => (float[n,8] y) <float a = {0.1}> { t = Sub (x, x) y = Add (t, a) }"},
      {"g (float[n,8] x) => (float[n,8] y) { y = Softmax <axis = 1> (x) }",
       "g (float[n,8] x) => (float[n,8] y) <int64[1] a = {1}> { m = ReduceMax <axes = [1]> (x) d = Sub (x, "
       "m) e = "
       "Exp (d) s = ReduceSum (e, a) y = Div (e, s) }"},
      {"g (int64[n] x) => (int64[n] y) <int64 b = {4}> { y = Mul (x, b) }",
       "g (int64[n] x) => (int64[n] y) { t = Add (x, x) y = Add (t, t) }"},
      // A division that the original may refuse.
      {"g (int32[n] a, int32[n] b) => (int32[n] y) { y = Mod (a, b) }",
       "g (int32[n] a, int32[n] b) => (int32[n] y) { t = Identity (b) y = Mod (a, t) }"},
      {"g (int32[n] a, int32[n] b) => (int32[n] y) { y = Div (a, b) }",
       "g (int32[n] a, int32[n] b) => (int32[n] y) { t = Identity (b) y = Div (a, t) }"},
      // Indices, counts, shapes and axes.
      {"g (float[3,n] x, int64[2] i) => (float[2,n] y) { y = Gather (x, i) }",
       "g (float[3,n] x, int64[2] i) => (float[2,n] y) { t = Identity (i) y = Gather (x, t) }"},
      {"g (float[n] x, int64[1] k) => (float[m] y, int64[m] i) { y, i = TopK (x, k) }",
       "g (float[n] x, int64[1] k) => (float[m] y, int64[m] i) { t = Identity (x) y, i = TopK (t, k) }"},
      {"g (float[n] x, int64[2] s) => (float[a,b] y) { y = Reshape (x, s) }",
       "g (float[n] x, int64[2] s) => (float[a,b] y) { t = Identity (x) y = Reshape (t, s) }"},
  };
  for (const Change& c : kRight) EXPECT_EQ(against(c.original, c.changed), "") << c.original;
}

TEST(Equivalence, WhereTheOriginalOverflowsNothingIsHeldAgainstTheOther) {
  const auto model = [](const char* graph) -> std::shared_ptr<Model> {
    return parse_text(std::string("<ir_version: 8, opset_import: [\"\" : 17]> ") + graph, "text");
  };
  EquivalenceOptions options;
  const Equivalence e = compare_models(
      model("g (float[4] x) => (float[4] y) <float a = {1e30}> { t = Mul (x, a) y = Div (t, a) }"),
      model("g (float[4] x) => (float[4] y) { y = Identity (x) }"), options);
  EXPECT_EQ(e.difference, "");
  EXPECT_GT(e.open, 0);
  EXPECT_LT(e.open, e.elements / 2);
}

TEST(Equivalence, WhatNoDataCanBeFoundForSaysWhichOptionsToGive) {
  try {
    against("g (float[n] x) => (float[a] y) <int64[2] s = {7, 13}> { y = Reshape (x, s) }",
            "g (float[n] x) => (float[a] y) <int64[2] s = {7, 13}> { y = Reshape (x, s) }");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("The shapes of inputs are open"), std::string::npos)
        << std::string(e.what());
  }
  EquivalenceOptions options;
  options.data.shapes = {{.name = "x", .dims = {Dim(91)}}};
  EXPECT_EQ(
      difference(
          "<ir_version: 8, opset_import: [\"\" : 17]> g (float[n] x) => (float[a,b] y) <int64[2] s = {7, "
          "13}> { y = Reshape (x, s) }",
          options),
      "");
}

TEST(Equivalence, ARangeThatIsGivenHoldsInEveryTrial) {
  EquivalenceOptions options;
  options.data.ranges = {{"x", {.low = PythonValue(2.0), .high = PythonValue(3.0)}}};
  const std::shared_ptr<Model> abs = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[n] x) => (float[n] y) { y = Abs (x) }", "text");
  const std::shared_ptr<Model> relu = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[n] x) => (float[n] y) { y = Relu (x) }", "text");
  EXPECT_EQ(find_difference(abs, relu, options), "");
}

}  // namespace
}  // namespace assay::equivalence_test
