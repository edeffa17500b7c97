// A node that selects among numbers with another node's NaN or infinity is not in error.
#include <cmath>
#include <functional>
#include <limits>

#include "arbiter/arbiter.h"
#include "reference/evaluate.h"
#include "reference/reference_test_util.h"
#include "tensor/convert.h"

namespace assay::specials_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

Tensor with(const Tensor& t, std::span<const int64_t> at, float value) {
  Tensor changed = Tensor::from<float>(t.shape(), t.span<float>());
  for (const int64_t i : at) changed.mutable_data<float>()[i] = value;
  return changed;
}

/// x -> Neg -> h, in which one element becomes special, -> a node that chooses.
struct Case {
  std::string op;
  Shape shape = {2, 4};
  AttributeList attributes = {};
  std::vector<Tensor> constants = {};  ///< further inputs
  size_t outputs = 1;
  std::vector<int64_t> ignored = {1};  ///< elements that a backend may have taken for small ones
  int64_t far = 6;                     ///< one that the special number has nothing to do with; -1: none
  float special = kNaN;
  size_t place = 0;  ///< of h among the inputs
  float far_value = 1000;
};

struct Trial {
  explicit Trial(const Case& c) : name(c.op) {
    h = m.node("Neg", "h", {m.input("x", c.shape)});
    std::vector<Value*> inputs, given;
    for (size_t i = 0; i < c.constants.size(); ++i)
      inputs.push_back(c.constants[i].defined() ? m.constant("k" + std::to_string(i), c.constants[i])
                                                : nullptr);
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(c.place), h);
    for (size_t i = 0; i < c.outputs; ++i) given.push_back(m.graph.add_value("y" + std::to_string(i)));
    m.graph.add_node(c.op, inputs, given, c.attributes, "chooser");
    model = m.with_outputs(given);
    feed = {random_floats(c.shape, 3)};
    own_h = evaluated({m.graph.nodes().front().get()}, feed[0])[0];
  }
  std::vector<Tensor> evaluated(const Node* n, const Tensor& first) const {
    std::vector<Tensor> inputs;
    for (const Value* v : n->inputs())
      inputs.push_back(v == nullptr ? Tensor() : v->is_constant() ? v->tensor().aligned() : first);
    return evaluate_node(*n, require_op(*n, *model), std::move(inputs));
  }
  /// The verdicts where the runner had `own` and chose as if it had been `taken`.
  Arbitration judge(const Tensor& own, const Tensor& taken) const {
    StoredTensorList results{{"h", own}};
    const std::vector<Tensor> y = evaluated(m.graph.nodes().back().get(), taken);
    for (size_t i = 0; i < y.size(); ++i) results.push_back({"y" + std::to_string(i), y[i]});
    const ArbiterCase c{"runner", &results};
    return arbitrate(model, feed, std::span(&c, 1));
  }
  TestModel m;
  Value* h;
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  Tensor own_h;
  std::string name;
};

std::vector<Case> cases() {
  const Tensor k = Tensor::vector<int64_t>({2}), axis = Tensor::vector<int64_t>({1}),
               zero = Tensor::scalar(0.0F);
  const AttributeList along{{"axis", int64_t{1}}};
  const std::vector<int64_t> row = {0, 1, 2};
  std::vector<Case> list{
      {.op = "TopK", .constants = {k}, .outputs = 2, .ignored = row},
      {.op = "TopK",
       .attributes = {{"axis", int64_t{0}}},
       .constants = {Tensor::vector<int64_t>({1})},
       .outputs = 2,
       .ignored = {1, 5}},
      {.op = "ArgMax", .attributes = along, .ignored = row},
      {.op = "ArgMin",
       .attributes = {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}},
       .ignored = row,
       .far_value = -2000},
      {.op = "Hardmax", .attributes = along, .ignored = row},
      {.op = "ReduceMax", .constants = {axis}, .ignored = row},
      {.op = "ReduceMin", .constants = {axis}, .ignored = row, .far_value = -2000},
      {.op = "MaxPool",
       .shape = {1, 2, 4},
       .attributes = {{"kernel_shape", std::vector<int64_t>{4}}},
       .outputs = 2,
       .ignored = row},
      {.op = "GlobalMaxPool", .shape = {1, 2, 4}, .ignored = row},
      {.op = "Max", .constants = {zero}},
      {.op = "Min", .constants = {zero}},
      {.op = "Relu"},
      {.op = "Clip", .constants = {Tensor::scalar(-0.5F), Tensor::scalar(0.5F)}},
      {.op = "Sign"},
      {.op = "Greater", .constants = {zero}},
      {.op = "LessOrEqual", .constants = {zero}},
      {.op = "QuantizeLinear", .constants = {Tensor::scalar(0.01F), Tensor::scalar(uint8_t{128})}},
      {.op = "DynamicQuantizeLinear", .outputs = 3, .ignored = row, .far = -1},
      {.op = "DynamicQuantizeLinear", .outputs = 3, .ignored = row, .far = -1, .special = kInfinity},
      {.op = "Unique", .outputs = 2, .ignored = row, .far = -1},
      {.op = "ScatterElements",
       .attributes = {{"axis", int64_t{1}}, {"reduction", std::string("max")}},
       .constants = {Tensor::from<int64_t>({1, 1}, {1}), Tensor::from<float>({1, 1}, {-5})},
       .far = 6},
  };
  const Tensor boxes = Tensor::from<float>({1, 4, 4}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}),
               scores = Tensor::from<float>({1, 1, 4}, {0.9F, 0.8F, 0.7F, 0.6F});
  list.push_back(
      {.op = "NonMaxSuppression",
       .shape = {1, 1, 4},
       .constants = {boxes, Tensor::scalar(int64_t{4}), Tensor::scalar(0.5F), Tensor::scalar(-1.0F)},
       .ignored = {0, 1},
       .far = -1,
       .place = 1});
  list.push_back(
      {.op = "NonMaxSuppression",
       .shape = {1, 4, 4},
       .constants = {scores, Tensor::scalar(int64_t{4}), Tensor::scalar(0.5F), Tensor::scalar(-1.0F)},
       .ignored = {0, 1, 6, 7},
       .far = -1,
       .special = kInfinity});
  return list;
}

TEST(Specials, WhatIsChosenBesideThemIsInherited) {
  for (const Case& c : cases()) {
    const Trial trial(c);
    const std::vector<int64_t> one{1};
    const Tensor own = with(trial.own_h, one, c.special);
    const Arbitration a = trial.judge(own, with(trial.own_h, c.ignored, -1000));
    ASSERT_EQ(a.outputs.size(), c.outputs + 1) << c.op;
    EXPECT_EQ(a.outputs[0].verdict, Verdict::kWrong) << c.op;
    size_t inherited = 0;
    for (size_t i = 1; i < a.outputs.size(); ++i) {
      EXPECT_NE(a.outputs[i].verdict, Verdict::kWrong) << c.op << " " << a.outputs[i].problem;
      inherited += a.outputs[i].verdict == Verdict::kInherited;
    }
    EXPECT_GT(inherited, 0U) << c.op << " " << verdict_name(a.outputs.back().verdict) << " "
                             << a.outputs.back().note;
    // The same choice from numbers is an error.
    const Arbitration numbers = trial.judge(trial.own_h, with(trial.own_h, c.ignored, -1000));
    EXPECT_TRUE(numbers.any(Verdict::kWrong)) << c.op;
    if (c.far < 0) continue;
    std::vector<int64_t> too_far = c.ignored;
    too_far.push_back(c.far);
    const Arbitration far = trial.judge(own, with(trial.own_h, too_far, c.far_value));
    size_t wrong = 0;
    for (size_t i = 1; i < far.outputs.size(); ++i) wrong += far.outputs[i].verdict == Verdict::kWrong;
    EXPECT_GT(wrong, 0U) << c.op << ": what the special number does not reach";
  }
}

TEST(Specials, TheModelsOwnNaNLeavesTheChoiceOpen) {
  TestModel m;
  Value* h = m.node("Sqrt", "h", {m.input("x", {4})});
  const auto model =
      m.with_outputs({h, m.node("ArgMax", "y", {h}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}})});
  const StoredTensorList results{{"h", Tensor::from<float>({4}, {1, kNaN, 2, 0})},
                                 {"y", Tensor::scalar(int64_t{0})}};
  const ArbiterCase c{"runner", &results};
  const std::vector<Tensor> feed{Tensor::from<float>({4}, {1, -1, 4, 0})};
  const Arbitration a = arbitrate(model, feed, std::span(&c, 1));
  EXPECT_EQ(a.outputs[1].verdict, Verdict::kOpen);
  EXPECT_NE(a.outputs[1].note.find("NaN or infinities"), std::string::npos) << a.outputs[1].note;
}

TEST(Specials, AMaskOfInfinitiesIsHandedOn) {
  constexpr bool kSeen[] = {true, true, false, false};
  TestModel m;
  Value* x = m.input("x", {4});
  const auto model =
      m.with_outputs({m.node("Where", "y",
                             {m.constant("seen", Tensor::from<bool>({4}, std::span<const bool>(kSeen))), x,
                              m.constant("hidden", Tensor::scalar(-kInfinity))})});
  const std::vector<Tensor> feed{Tensor::from<float>({4}, {1, 2, 3, 4})};
  const auto verdict = [&](std::vector<float> y) {
    const StoredTensorList results{{"y", Tensor::from<float>({4}, y)}};
    const ArbiterCase c{"runner", &results};
    return arbitrate(model, feed, std::span(&c, 1)).outputs.back().verdict;
  };
  EXPECT_EQ(verdict({1, 2, -kInfinity, -kInfinity}), Verdict::kAgrees);
  EXPECT_EQ(verdict({1, 2, 3, -kInfinity}), Verdict::kWrong);
  EXPECT_EQ(verdict({1, -kInfinity, 3, -kInfinity}), Verdict::kWrong);
}

TEST(Specials, BodiesThatAreGivenThemAreNotLookedInto) {
  TestModel m;
  Value *h = m.node("Exp", "h", {m.input("x", {2})}), *y = m.graph.add_value("y");
  const auto branch = std::make_shared<Graph>();
  branch->set_parent(&m.graph);
  Value* out = branch->add_value("out");
  branch->outputs = {out};
  branch->add_node("Relu", {h}, {out}, {}, "inside");
  m.graph.add_node("If", {m.constant("yes", Tensor::scalar(true))}, {y},
                   {{"then_branch", branch}, {"else_branch", branch}}, "y");
  const auto model = m.with_outputs({h, y});
  const std::vector<Tensor> feed{Tensor::from<float>({2}, {0, 0})};
  const auto verdict = [&](float of_h) {
    const StoredTensorList results{{"h", Tensor::from<float>({2}, {of_h, 1})},
                                   {"y", Tensor::from<float>({2}, {0, 1})}};
    const ArbiterCase c{"runner", &results};
    return arbitrate(model, feed, std::span(&c, 1)).outputs.back().verdict;
  };
  EXPECT_EQ(verdict(kNaN), Verdict::kInherited);
  EXPECT_EQ(verdict(1), Verdict::kWrong);
}

}  // namespace
}  // namespace assay::specials_test
