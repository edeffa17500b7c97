#include "debug/non_finite.h"

#include <cmath>
#include <limits>

#include "debug/debug_test_util.h"

namespace assay::debug::non_finite_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

NonFiniteReport search(const std::string& graph, const std::vector<Tensor>& feed) {
  const std::shared_ptr<Model> model = model_from(graph);
  TensorStore store(kResultMemory);
  LayerValues values(store);
  run_reference(model, feed, values);
  NonFiniteSearch search(model, output_names(*model));
  search.look(values);
  return search.report();
}

Tensor floats(const std::vector<float>& numbers) { return Tensor::vector<float>(numbers); }

TEST(NonFinite, CountsWhatIsNoNumber) {
  const NonFiniteCount count = count_non_finite(floats({1, NAN, kInfinity, -kInfinity, 0, NAN}));
  EXPECT_EQ(count.elements, 6);
  EXPECT_EQ(count.nan, 2);
  EXPECT_EQ(count.infinite, 2);
  EXPECT_EQ(count.first[0], 1);
  EXPECT_EQ(count.first[1], 2);
  EXPECT_EQ(count.first[2], 3);
  EXPECT_FALSE(count_non_finite(Tensor::vector<int64_t>({1})).any());
  EXPECT_FALSE(count_non_finite(Tensor()).any());
}

struct Reason {
  const char* node;
  float x, y;
  const char* says;
};

/// Each operator with operands of which it makes no number.
TEST(NonFinite, SaysWhy) {
  const Reason reasons[] = {
      {"Div (x, y)", 1, 0, "division by 0"},
      {"Div (x, y)", 0, 0, "0 / 0"},
      {"Div (x, y)", kInfinity, kInfinity, "infinity / infinity"},
      {"Reciprocal (x)", 0, 1, "division by 0"},
      {"Log (x)", 0, 1, "logarithm of 0"},
      {"Log (x)", -2, 1, "logarithm of a negative number"},
      {"Sqrt (x)", -1, 1, "square root of a negative number"},
      {"Pow (x, y)", -2, 0.5f, "a negative number to the power of a fraction"},
      {"Pow (x, y)", 0, -1, "0 to a negative power"},
      {"Acos (x)", 2, 1, "it is defined from -1 to 1"},
      {"Acosh (x)", 0, 1, "it is defined from 1 on"},
      {"Atanh (x)", 1, 1, "it is finite between -1 and 1"},
      {"Sin (x)", kInfinity, 1, "of an infinite number"},
      {"Add (x, y)", kInfinity, -kInfinity, "infinity - infinity"},
      {"Sub (x, y)", kInfinity, kInfinity, "infinity - infinity"},
      {"Mul (x, y)", 0, kInfinity, "0 * infinity"},
      {"Exp (x)", 100, 1, "2.68812e+43 is beyond the largest float32, 3.40282e+38"},
      {"Exp (x)", 1000, 1, "beyond the largest float32"},
      {"Mul (x, y)", 1e30f, 1e30f, "1e+60 is beyond the largest float32, 3.40282e+38"},
      {"Softmax <axis = 1> (x)", -kInfinity, 1, "all elements along axis 1 are -infinity"},
  };
  for (const Reason& r : reasons) {
    SCOPED_TRACE(r.node + std::string(" ") + std::to_string(r.x) + " " + std::to_string(r.y));
    const NonFiniteReport report =
        search(std::string("g (float[1,1] x, float[1,1] y) => (float[1,1] z) {\n [n] z = ") + r.node + "\n}",
               {Tensor::from<float>({1, 1}, std::vector<float>{r.x}),
                Tensor::from<float>({1, 1}, std::vector<float>{r.y})});
    const NonFiniteOrigin* cause = report.cause();
    ASSERT_NE(cause, nullptr);
    ASSERT_EQ(cause->elements.size(), 1u);
    EXPECT_EQ(cause->elements[0].reason, r.says);
    const bool was_infinite = std::isinf(r.x) || std::isinf(r.y);
    EXPECT_EQ(cause->kind == NonFiniteOrigin::Kind::kMadeOfInfinity, was_infinite);
    EXPECT_TRUE(report.reaches_outputs());
  }
}

TEST(NonFinite, NamesTheElementAndItsOperands) {
  const NonFiniteReport report = search(
      "g (float[2,3] x, float[3] y) => (float[2,3] z) {\n [before] a = Neg (x)\n [div] z = Div (a, y)\n}",
      {Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}), floats({1, 0, 1})});
  const NonFiniteOrigin* cause = report.cause();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->tensor, "z");
  EXPECT_EQ(cause->count.infinite, 2);
  ASSERT_EQ(cause->elements.size(), 1u);
  const NonFiniteElement& element = cause->elements[0];
  EXPECT_EQ(element.index, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(element.value, -std::numeric_limits<double>::infinity());
  ASSERT_EQ(element.operands.size(), 2u);
  EXPECT_EQ(element.operands[0].value, -2);
  EXPECT_EQ(element.operands[1].index, (std::vector<int64_t>{1}));
  EXPECT_EQ(element.operands[1].value, 0);
}

TEST(NonFinite, FindsWhatLeavesFloat16) {
  const NonFiniteReport report = search(
      "g (float[1,2] x) => (float16[1,1] z) {\n [cast] h = Cast <to = 10> (x)\n [turn] t = Transpose (h)\n"
      " [sum] z = MatMul (h, t)\n}",
      {Tensor::from<float>({1, 2}, std::vector<float>{200, 200})});
  const NonFiniteOrigin* cause = report.cause();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->op_type, "MatMul");
  EXPECT_EQ(cause->elements[0].reason, "80000 is beyond the largest float16, 65504");
  EXPECT_EQ(cause->elements[0].exact, 80000);
  // Of an operator that sums, the operands' extremes are told.
  EXPECT_FALSE(cause->elements[0].operands[0].index);
  EXPECT_EQ(cause->elements[0].operands[0].largest, 200);
}

TEST(NonFinite, FollowsItToItsEnd) {
  const NonFiniteReport report = search(
      "g (float[2] x, bool[2] c) => (float[2] y, float[2] z) {\n [log] l = Log (x)\n [neg] m = Neg (l)\n"
      " [choose] y = Where (c, m, x)\n [other] z = Abs (x)\n}",
      {floats({0, 1}), Tensor::vector<bool>({false, true})});
  const NonFiniteOrigin* cause = report.cause();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->tensor, "l");
  EXPECT_EQ(cause->carriers, 1u);
  EXPECT_TRUE(cause->outputs.empty());
  EXPECT_FALSE(report.reaches_outputs());
  ASSERT_EQ(cause->ends.size(), 1u);
  EXPECT_NE(cause->ends[0].node.find("choose"), std::string::npos);
}

/// A mask of -infinity that a softmax takes is no cause; what reaches an output is, though it comes later.
TEST(NonFinite, ACauseReachesAnOutputIfAnyDoes) {
  const NonFiniteReport report = search(
      "g (float[1,2] x, float[1,2] mask) => (float[1,2] y, float[1,2] z) {\n [l] l = Log (mask)\n"
      " [add] s = Add (x, l)\n [soft] y = Softmax (s)\n [root] z = Sqrt (x)\n}",
      {Tensor::from<float>({1, 2}, std::vector<float>{-1, 2}),
       Tensor::from<float>({1, 2}, std::vector<float>{0, 1})});
  ASSERT_EQ(report.origins.size(), 2u);
  EXPECT_EQ(report.origins[0].tensor, "l");
  EXPECT_TRUE(report.origins[0].outputs.empty());
  EXPECT_EQ(report.cause()->tensor, "z");
}

const char* const kMasked =
    "g (float[2,4] x, float[4] mask) => (float[2,4] y) {\n [scale] s = Mul (x, x)\n [add] m = Add (s, mask)\n"
    " [soft] y = Softmax (m)\n}";
const NonFiniteOrigin* origin_of(const NonFiniteReport& report, const std::string& tensor) {
  for (const NonFiniteOrigin& o : report.origins)
    if (o.tensor == tensor) return &o;
  return nullptr;
}

TEST(NonFinite, AMaskIsMeant) {
  const Tensor x = Tensor::from<float>({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const NonFiniteReport report = search(kMasked, {x, floats({0, -kInfinity, 0, 0})});
  EXPECT_EQ(report.cause(), nullptr);
  ASSERT_NE(origin_of(report, "mask"), nullptr);
  EXPECT_TRUE(origin_of(report, "mask")->is_mask());
  // Infinity is none, and neither is a mask that leaves nothing.
  const NonFiniteReport positive = search(kMasked, {x, floats({0, kInfinity, 0, 0})});
  EXPECT_FALSE(origin_of(positive, "mask")->is_mask());
  const NonFiniteReport all = search(kMasked, {x, floats({-kInfinity, -kInfinity, -kInfinity, -kInfinity})});
  EXPECT_FALSE(origin_of(all, "mask")->is_mask());
  ASSERT_NE(all.cause(), nullptr);
  EXPECT_EQ(all.cause()->elements[0].reason, "all elements along axis 1 are -infinity");
  // A node may fill it in.
  const NonFiniteReport filled = search(
      "g (float[1,2] x, bool[2] c, int64[1] n) => (float[1,2] y) {\n"
      " [fill] f = ConstantOfShape <value = float[1] {-inf}> (n)\n [choose] m = Where (c, x, f)\n"
      " [soft] y = Softmax (m)\n}",
      {Tensor::from<float>({1, 2}, std::vector<float>{1, 2}), Tensor::vector<bool>({true, false}),
       Tensor::vector<int64_t>({1})});
  EXPECT_EQ(filled.cause(), nullptr);
  ASSERT_NE(origin_of(filled, "f"), nullptr);
  EXPECT_TRUE(origin_of(filled, "f")->is_mask());
}

/// A score that overflows beside elements that are masked.
TEST(NonFinite, ANewInfinityIsToldFromAMask) {
  const Tensor x = Tensor::from<float>({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 1e19f});
  const NonFiniteReport report = search(
      "g (float[2,4] x, float[4] mask, float big) => (float[2,4] y) {\n [scale] s = Mul (x, x)\n"
      " [add] m = Add (s, mask)\n [more] z = Mul (m, big)\n [soft] y = Softmax (z)\n}",
      {x, floats({0, -kInfinity, 0, 0}), Tensor::scalar<float>(1e5f)});
  const NonFiniteOrigin* cause = report.cause();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->tensor, "z");
  EXPECT_EQ(cause->kind, NonFiniteOrigin::Kind::kMade);
  EXPECT_EQ(cause->count.infinite, 1);
  ASSERT_EQ(cause->elements.size(), 1u);
  EXPECT_EQ(cause->elements[0].index, (std::vector<int64_t>{1, 3}));
  EXPECT_FALSE(origin_of(report, "mask")->is_mask()) << "its row is NaN with it";
}

TEST(NonFinite, WhatIsGivenIsNoCause) {
  const NonFiniteReport report =
      search("g (float[2] x) => (float[2] y) {\n [n] y = Neg (x)\n}", {floats({kInfinity, 1})});
  EXPECT_EQ(report.cause(), nullptr);
  ASSERT_EQ(report.origins.size(), 1u);
  EXPECT_EQ(report.origins[0].kind, NonFiniteOrigin::Kind::kGiven);
  EXPECT_EQ(report.origins[0].outputs.size(), 1u);
  EXPECT_FALSE(report.reaches_outputs());
}

/// 1 / x after each of three subtractions: x is 0 in the third.
TEST(NonFinite, LooksIntoBodies) {
  const NonFiniteReport report = search(
      R"(g (float[1] x, float[1] one, int64 n, bool c) => (float[1] last, float[k,1] all) {
 [loop] last, all = Loop (n, c, x) <body = body (int64 i, bool go, float[1] at) => (bool more, float[1] next, float[1] y) {
   [same] more = Identity (go)
   [less] next = Sub (at, one)
   [inverse] y = Reciprocal (next)
 }>
})",
      {floats({3}), floats({1}), Tensor::scalar<int64_t>(4), Tensor::scalar<bool>(true)});
  const NonFiniteOrigin* cause = report.cause();
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->op_type, "Loop");
  ASSERT_TRUE(cause->in_body.has_value());
  EXPECT_EQ(cause->in_body->tensor, "y");
  EXPECT_EQ(cause->in_body->run, 2);
  ASSERT_EQ(cause->in_body->elements.size(), 1u);
  EXPECT_EQ(cause->in_body->elements[0].reason, "division by 0");
}

TEST(NonFinite, JsonTellsAllOfIt) {
  const std::string json =
      non_finite_json(search("g (float[1] x) => (float[1] y) {\n [n] y = Log (x)\n}", {floats({0})}));
  for (const char* part : {"\"cause\": \"y\"", "\"reason\": \"logarithm of 0\"", "\"kind\": \"made\"",
                           "\"value\": -Infinity", "\"reaches_outputs\": true"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

}  // namespace
}  // namespace assay::debug::non_finite_test
