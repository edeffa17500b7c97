#include "assay/generate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/plan_counter.h"
#include "generate/exact_logits.h"
#include "ops/infer.h"

namespace assay::generate::generate_test {
namespace {

constexpr int64_t kVocabulary = 6;

Dim sym(const std::string& name) { return Dim::symbol(name); }

/// The next token is that before, plus one; the cache holds one number for each position.
class FakeSession final : public Session, public PlanCounter {
 public:
  /// Behind `from` positions the logits of token 0 get `bonus`; from `fails_at` positions on it fails.
  explicit FakeSession(double bonus = 0, int64_t from = 0, int64_t fails_at = 1000)
      : bonus_(bonus), from_(from), fails_at_(fails_at) {}

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return 0; }
  BuiltPlans plans_built() const override { return {.whole = plans_, .parts = 2 * plans_}; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    const std::vector<int64_t> tokens = feed[0].to_int64();
    const int64_t past = feed[2].dim(2), all = past + static_cast<int64_t>(tokens.size());
    EXPECT_EQ(feed[1].shape(), (Shape{1, all}));
    require(all < fails_at_, ErrorCode::kInvalidModel, "an index is out of range");
    if (all <= 6) ++plans_;
    Tensor logits =
        Tensor::zeros(DType::kFloat32, Shape{1, static_cast<int64_t>(tokens.size()), kVocabulary});
    float* last = logits.mutable_data<float>() + logits.numel() - kVocabulary;
    last[(tokens.back() + 1) % kVocabulary] = 1;
    if (all >= from_) last[0] += static_cast<float>(bonus_);
    Tensor cache = Tensor::zeros(DType::kFloat32, Shape{1, 1, all, 1});
    sink(1, cache);
    sink(0, logits);
  }

 private:
  std::vector<TensorInfo> inputs_ = {
      {"input_ids", Type::tensor(DType::kInt64, Dims{sym("batch"), sym("tokens")})},
      {"attention_mask", Type::tensor(DType::kInt64, Dims{sym("batch"), sym("total")})},
      {"past_0", Type::tensor(DType::kFloat32, Dims{sym("batch"), 1, sym("past"), 1})}};
  std::vector<TensorInfo> outputs_ = {
      {"logits", Type::tensor(DType::kFloat32, Dims{sym("batch"), sym("tokens"), kVocabulary})},
      {"present_0", Type::tensor(DType::kFloat32, Dims{sym("batch"), 1, sym("all"), 1})}};
  double bonus_;
  int64_t from_, fails_at_;
  size_t plans_ = 0;
};

template <typename... Arguments>
Participant participant(const std::string& name, Arguments... arguments) {
  return {name, [=] { return std::make_shared<FakeSession>(arguments...); }};
}

Options options() { return {.prompts = {{1, 2}, {4}}, .max_tokens = 8}; }

Report run(const Options& o, const std::vector<Participant>& participants) {
  Observer nobody;
  return generate(o, participants, nobody);
}

Tokens tokens_of(const GeneratedSequence& s) {
  Tokens tokens;
  for (const GeneratedToken& t : s.tokens) tokens.push_back(t.token);
  return tokens;
}

std::string refusal(const Options& o, const Participant& p) {
  try {
    run(o, {p});
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Generate, PromptsOneAfterTheOther) {
  const Report report = run(options(), {participant("a")});
  const BackendResult& r = report.backends.at(0);
  EXPECT_EQ(tokens_of(r.sequences.at(0)), (Tokens{3, 4, 5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(tokens_of(r.sequences.at(1)), (Tokens{5, 0, 1, 2, 3, 4, 5, 0}));
  EXPECT_EQ(r.sequences[0].all().size(), 10U);
  EXPECT_EQ(r.sequences[0].tokens.front().positions, 2);
  EXPECT_EQ(r.sequences[0].tokens.back().positions, 9);
  EXPECT_TRUE(report.all_right() && report.agreements.empty());
}

TEST(Generate, PlansAreCounted) {
  const BackendResult r = run(options(), {participant("a")}).backends.at(0);
  EXPECT_TRUE(r.counts_plans);
  // After 2 to 6 positions, and after 1 to 6.
  EXPECT_EQ(r.plans(), 11U);
  EXPECT_EQ(r.part_plans(), 22U);
  EXPECT_EQ(r.late_plans(), 1U + 2U);
}

TEST(Generate, ATokenEndsASequence) {
  Options o = options();
  o.ends = {5};
  const Report report = run(o, {participant("a")});
  EXPECT_EQ(tokens_of(report.backends[0].sequences[0]), (Tokens{3, 4, 5}));
  EXPECT_TRUE(report.backends[0].sequences[0].ended);
}

TEST(Generate, WhereBackendsPart) {
  const Report report = run(options(), {participant("a"), participant("b", 2.0, 5)});
  ASSERT_EQ(report.agreements.size(), 1U);
  const Agreement& a = report.agreements[0];
  ASSERT_EQ(a.partings.size(), 2U);
  // Behind 5 positions 0 follows 0 there: token 3 of the first prompt is 0 anyway, the next one is not.
  EXPECT_EQ(a.partings[0].index, 4U);
  EXPECT_EQ(a.partings[0].first.token, 1);
  EXPECT_EQ(a.partings[0].second.token, 0);
  EXPECT_EQ(a.partings[0].second.best.at(0).logit, 2);
  EXPECT_EQ(a.partings[0].second.other_logit, 1);
  EXPECT_EQ(a.partings[0].explanation, Explanation::kNotJudged);
  EXPECT_FALSE(report.all_right());
  EXPECT_EQ(a.equal_tokens, 4U + 4U);
  EXPECT_EQ(a.largest_difference, 2);
}

TEST(Generate, Refusals) {
  Options o = options();
  o.prompts = {{1}, {}};
  expect_part(refusal(o, participant("a")), "prompt 1 has no token");
  o.prompts = {};
  expect_part(refusal(o, participant("a")), "no prompt");
  o.prompts = {{1, 6}};
  expect_part(refusal(o, participant("a")), "token 6 at position 1 is outside of the model's vocabulary");
  o.prompts = {{-3}};
  expect_part(refusal(o, participant("a")), "token -3 at position 0 is negative");
  o = options();
  o.max_tokens = 0;
  expect_part(refusal(o, participant("a")), "0 tokens are none");
}

TEST(Generate, FailuresNameTheToken) {
  expect_part(refusal(options(), participant("a", 0.0, 0, 5)),
              "an index is out of range [for token 3 of prompt 0 on a, behind 4 positions");
  expect_part(refusal(options(), participant("a", std::nan(""), 4)),
              "1 of 6 logits are NaN, so no token is the most likely [for token 2 of prompt 0 on a");
}

/// Logits x W for x, the mean of the embeddings of all tokens: a model without a cache.
class Judged : public testing::Test {
 protected:
  Judged() {
    model->opsets = {{"", 18}};
    Graph& g = *model->graph;
    const auto op = [&](const std::string& type, std::vector<Value*> inputs, AttributeList attributes = {}) {
      Value* out = g.add_value(g.unique_name(type));
      g.add_node(type, std::move(inputs), {out}, std::move(attributes), out->name());
      return out;
    };
    std::vector<float> table(kVocabulary * 4);
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(std::sin(static_cast<double>(i)));
    Value* ids = g.add_input("input_ids", Type::tensor(DType::kInt64, Dims{Dim(1), sym("n")}));
    Value* e =
        op("Gather", {g.add_constant("table", Tensor::from<float>(Shape{kVocabulary, 4}, table)), ids});
    Value* axes = g.add_constant("axes", Tensor::vector<int64_t>({1}));
    Value* mean = op("ReduceMean", {e, axes});
    Value* w = g.add_constant("w", Tensor::from<float>(Shape{4, kVocabulary}, table));
    Value* logits = op("MatMul", {op("Add", {e, mean}), w});
    g.outputs = {logits};
    infer_shapes(*model);
  }

  ExactLogits judge(const std::vector<int64_t>& tokens) const {
    const std::vector<TensorInfo> inputs = {{"input_ids", model->graph->inputs[0]->type}};
    const std::vector<TensorInfo> outputs = {{"logits", model->graph->outputs[0]->type}};
    return exact_logits(model, std::make_shared<const Interface>(find_interface(inputs, outputs)), tokens);
  }

  const std::shared_ptr<Model> model = std::make_shared<Model>();
};

TEST_F(Judged, RoundingIsSmallAndNotNothing) {
  const ExactLogits l = judge({1, 2, 3});
  ASSERT_EQ(l.exact.size(), static_cast<size_t>(kVocabulary));
  double largest = 0;
  for (const double x : l.exact) largest = std::max(largest, std::abs(x));
  EXPECT_GT(l.explained, 1e-8 * largest);
  EXPECT_LT(l.explained, 1e-4 * largest);
}

}  // namespace
}  // namespace assay::generate::generate_test
