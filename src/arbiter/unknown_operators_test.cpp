// Unknown operators: the nodes around them are still judged.
#include <gtest/gtest.h>

#include <fstream>

#include "arbiter/arbiter.h"
#include "base/log.h"
#include "base/temporary_folder.h"
#include "console/verdict_text.h"
#include "graph/import.h"
#include "ops/infer.h"

namespace assay::unknown_operators_test {
namespace {

/// a = Exp(x), b = Magic(a), c = Tanh(b), y = Mul(c, c), z = Sqrt(a)
std::shared_ptr<const Model> model_of(const std::string& magic) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnxtxt";
  std::ofstream(path) << R"(<ir_version: 8, opset_import: ["" : 17, "my.ops" : 1]>
g (float[3] x, bool go) => (float[3] y, float[3] z) {
  a = Exp (x)
  )" << magic << R"(
  c = Tanh (b)
  y = Mul (c, c)
  z = Sqrt (a)
}
)";
  const std::shared_ptr<Model> model = load_model(path);
  infer_shapes(*model);
  return model;
}

const char* const kMagic = "[magic] b = my.ops.Magic (a)";

class UnknownOperators : public testing::Test {
 protected:
  Arbitration judge(const std::shared_ptr<const Model>& model, const StoredTensorList& results) const {
    const ArbiterCase c{"runner", &results};
    return arbitrate(model, feed_, std::span(&c, 1));
  }
  static std::string words(const Arbitration& a) {
    std::string text;
    for (const ArbiterVerdict& o : a.outputs)
      text += fmt::format("{}:{}{} ", o.output, verdict_name(o.verdict),
                          o.lacking.empty() ? "" : " for " + o.lacking);
    return text;
  }

  const Tensor zeros_ = Tensor::vector<float>({0, 0, 0}), ones_ = Tensor::vector<float>({1, 1, 1});
  std::vector<Tensor> feed_ = {zeros_, Tensor::scalar(false)};
};

TEST_F(UnknownOperators, OutputsBehindThemAreNotJudgedAndOthersAre) {
  const auto model = model_of(kMagic);
  const Arbitration a = judge(model, {{"y", zeros_}, {"z", ones_}});
  EXPECT_EQ(words(a), "y:not judged for 'magic' (my.ops::Magic) z:agrees ");
  EXPECT_EQ(words(judge(model, {{"y", zeros_}, {"z", zeros_}})),
            "y:not judged for 'magic' (my.ops::Magic) z:WRONG ");
  log::Capture capture;
  print_verdict(a);
  EXPECT_NE((capture.out() + capture.err())
                .find("Not judged | runner | 'y': the reference does not know the operator of node "
                      "'magic' (my.ops::Magic). With every layer marked"),
            std::string::npos)
      << capture.out() << capture.err();
}

TEST_F(UnknownOperators, WhatFollowsIsJudgedOnTheRunnersOwnValues) {
  const auto model = model_of(kMagic);
  // Magic adds a half, say: tanh of it is 0.462117157 in float32.
  const Tensor half = Tensor::vector<float>({0.5F, 0.5F, 0.5F}),
               c = Tensor::vector<float>({0.46211717F, 0.46211717F, 0.46211717F});
  const Tensor y = Tensor::vector<float>({0.21355228F, 0.21355228F, 0.21355228F});
  const std::string magic = "b:not judged for 'magic' (my.ops::Magic) ";
  EXPECT_EQ(words(judge(model, {{"a", ones_}, {"b", half}, {"c", c}, {"y", y}, {"z", ones_}})),
            "a:agrees " + magic + "c:agrees y:agrees z:agrees ");
  const Arbitration wrong =
      judge(model, {{"a", ones_}, {"b", half}, {"c", half}, {"y", ones_}, {"z", ones_}});
  EXPECT_EQ(words(wrong), "a:agrees " + magic + "c:WRONG y:WRONG z:agrees ");
  EXPECT_EQ(wrong.outputs[2].basis, Basis::kNode);
  EXPECT_EQ(words(judge(model, {{"b", half}, {"y", y}})), magic + "y:rounding only ")
      << "the region behind it";
}

TEST_F(UnknownOperators, OnlyTheBranchThatIsTakenCounts) {
  const auto model = model_of(R"([if] b = If (go) <
    then_branch: graph = t () => (float[3] p) { p = my.ops.Magic (a) },
    else_branch: graph = e () => (float[3] q) { q = Neg (a) }>)");
  const Tensor tanh = Tensor::vector<float>({-0.7615942F, -0.7615942F, -0.7615942F});
  EXPECT_EQ(words(judge(model, {{"c", tanh}})), "c:agrees ");
  feed_[1] = Tensor::scalar(true);
  EXPECT_EQ(words(judge(model, {{"c", tanh}})), "c:not judged for 'if' (If) ");
}

/// A far error is left to the run that shows its node.
TEST_F(UnknownOperators, AFarErrorOfATraceableRunnerTakesNoFurtherEvaluations) {
  const auto model = model_of("[neg] b = Neg (a)");
  const StoredTensorList results = {{"y", zeros_}};
  for (const bool traceable : {false, true}) {
    const ArbiterCase c{"runner", &results, traceable};
    const Arbitration a = arbitrate(model, feed_, std::span(&c, 1));
    EXPECT_EQ(words(a), "y:WRONG ");
    EXPECT_EQ(a.samples, traceable ? 3 : 15);
    EXPECT_EQ(is_left_to_a_trace(a.outputs[0], std::span(&c, 1)), traceable);
  }
}

}  // namespace
}  // namespace assay::unknown_operators_test
