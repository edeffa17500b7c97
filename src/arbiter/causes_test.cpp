// Patterns of the errors of a node, and the causes that they suggest.
#include "arbiter/causes.h"

#include <cmath>

#include "arbiter/arbiter_test_util.h"

namespace assay::causes_test {
namespace {

using SharedModel = std::shared_ptr<const Model>;

/// The verdict on a run of `other`, which has the same names, as one of `model`.
ArbiterVerdict verdict_on(const SharedModel& model, const SharedModel& other, const Tensor& x) {
  const Arbitration a = judge(model, {x}, results_of(*other, {x}));
  return a.outputs.at(0);
}

SharedModel normalisation(const std::string& op, float epsilon) {
  TestModel m;
  std::vector<Value*> inputs{m.input("x", {4, 3, 5, 6})};
  const auto weights = [&](const char* name, unsigned seed) {
    return m.constant(name, random_floats({3}, seed, 0.5F, 1.5F));
  };
  inputs.insert(inputs.end(), {weights("s", 1), weights("b", 2)});
  if (op == "BatchNormalization") inputs.insert(inputs.end(), {weights("mean", 3), weights("var", 4)});
  return m.with_outputs({m.node(op, "y", inputs, {{"epsilon", epsilon}})});
}

TEST(Causes, AnotherEpsilonScalesEveryBlock) {
  for (const std::string op : {"BatchNormalization", "InstanceNormalization"}) {
    const ArbiterVerdict v =
        verdict_on(normalisation(op, 1e-5F), normalisation(op, 1e-2F), random_floats({4, 3, 5, 6}, 5));
    ASSERT_EQ(v.verdict, Verdict::kWrong) << op;
    EXPECT_NE(v.pattern.find("every block of 30 elements has a factor of its own"), std::string::npos)
        << op << ": " << v.pattern;
    EXPECT_NE(likely_cause(v).find("epsilon"), std::string::npos) << op << ": " << likely_cause(v);
  }
}

SharedModel pooling(int64_t counts_padding) {
  TestModel m;
  return m.with_outputs({m.node("AveragePool", "y", {m.input("x", {1, 2, 9, 10})},
                                {{"kernel_shape", std::vector<int64_t>{3, 3}},
                                 {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                                 {"count_include_pad", counts_padding}})});
}

TEST(Causes, AnotherPaddingShowsAtTheBorder) {
  const ArbiterVerdict v = verdict_on(pooling(0), pooling(1), random_floats({1, 2, 9, 10}, 5, 0.5F, 1));
  ASSERT_EQ(v.verdict, Verdict::kWrong);
  EXPECT_NE(v.pattern.find("only within 1 of the border"), std::string::npos) << v.pattern;
  EXPECT_NE(likely_cause(v).find("padding"), std::string::npos) << likely_cause(v);
}

TEST(Causes, ErrorsThatDifferFromElementToElementAreNoFactor) {
  const SharedModel model = normalisation("InstanceNormalization", 1e-5F);
  const Tensor x = random_floats({4, 3, 5, 6}, 5);
  const Arbitration a = judge(model, {x}, results_of(*model, {x}, [](const std::string&, Tensor& t) {
                                const Tensor noise = random_floats(t.shape(), 6);
                                for (int64_t i = 0; i < t.numel(); ++i)
                                  t.mutable_data<float>()[i] += 0.01F * noise.data<float>()[i];
                              }));
  ASSERT_EQ(a.outputs.at(0).verdict, Verdict::kWrong);
  EXPECT_EQ(a.outputs[0].pattern.find("factor"), std::string::npos) << a.outputs[0].pattern;
  EXPECT_EQ(likely_cause(a.outputs[0]).find("epsilon"), std::string::npos);
}

}  // namespace
}  // namespace assay::causes_test
