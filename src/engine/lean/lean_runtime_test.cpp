#include "assay/lean_runtime.h"

#include <gtest/gtest.h>

#include "assay/builder.h"
#include "graph/import.h"
#include "ops/infer.h"

namespace assay::lean_runtime_test {
namespace {

std::string plan_of(const std::string& text, const BuilderConfig& config = {.optimization_level = 0}) {
  const std::shared_ptr<Model> model =
      parse_text("<ir_version: 8, opset_import: [\"\" : 18]> g " + text, "network");
  infer_shapes(*model);
  return Builder(Runtime({.threads = 2})).build_serialized_network(model, config);
}

std::string weights(int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += fmt::format("{}{:.3f}", i == 0 ? "" : ", ", (i * 37 % 101) / 50.0 - 1);
  return list;
}

const std::string kNetwork =
    "(float[1,3,12,12] x) => (float[1,10] y) <float[16,3,3,3] w = {" + weights(432) +
    "}, float[16,10] v = {" + weights(160) +
    "}> { c = Conv <pads = [1, 1, 1, 1]> (x, w) r = Relu (c) p = GlobalAveragePool (r) "
    "f = Flatten (p) m = MatMul (f, v) y = Softmax (m) }";

Tensor picture(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.mutable_data<float>()[i] = static_cast<float>(i * 31 % 97) / 40 - 1;
  return t;
}

/// The sentence that loading a plan ends with, or running it.
template <typename F>
std::string said(const F& body) {
  try {
    body();
  } catch (const Error& e) {
    return fmt::format("{} {}", e.what(), e.remedy());
  }
  return "nothing";
}

TEST(LeanRuntime, GivesWhatTheWholeLibraryGives) {
  const std::string plan = plan_of(kNetwork);
  const Tensor x = picture({1, 3, 12, 12});
  const std::vector<Tensor> wanted =
      Runtime({.threads = 2}).deserialize_engine(plan)->create_execution_context()->infer(std::vector{x});
  const auto lean = LeanEngine::parse(plan, nullptr, 2);
  ASSERT_EQ(lean->inputs().size(), 1U);
  EXPECT_EQ(lean->inputs()[0].name, "x");
  EXPECT_EQ(lean->inputs()[0].dims, (std::vector<int64_t>{1, 3, 12, 12}));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::vector<Tensor> got = lean->infer(std::vector{x});
    ASSERT_EQ(got.size(), 1U);
    EXPECT_TRUE(got[0].identical(wanted[0]));
  }
}

TEST(LeanRuntime, NamesStepsThatNeedTheOperators) {
  const std::string plan = plan_of("(float[3,4] x) => (float[3,4] y) { y = Hardmax (x) }");
  const std::string text = said([&] { LeanEngine::parse(plan); });
  EXPECT_NE(text.find("no kernels for these steps: "), std::string::npos) << text;
  EXPECT_NE(text.find("(evaluate)"), std::string::npos) << text;
  EXPECT_NE(text.find("assay/runtime.h"), std::string::npos) << text;
}

TEST(LeanRuntime, NamesShapesThatItHasNoPlanFor) {
  const auto lean = LeanEngine::parse(plan_of("(float[3,4] x) => (float[3,4] y) { y = Softmax (x) }"));
  EXPECT_NE(said([&] {
              lean->infer(std::vector{picture({3, 5})});
            }).find("has no plan for inputs of (3, 5)"),
            std::string::npos);
  EXPECT_NE(said([&] { lean->infer({}); }).find("0 inputs are given"), std::string::npos);
  EXPECT_NE(said([&] {
              lean->infer(std::vector{Tensor::zeros(DType::kInt64, {3, 4})});
            }).find("the input 'x' is int64, not float32"),
            std::string::npos);
}

TEST(LeanRuntime, PlansWithoutWeightsOrForOtherMachinesAreRefused) {
  const std::string stripped =
      plan_of(kNetwork, {.optimization_level = 0, .is_refittable = true, .strips_weights = true});
  EXPECT_NE(said([&] { LeanEngine::parse(stripped); }).find("weights have been left out"), std::string::npos);
  EXPECT_NE(said([&] { LeanEngine::parse("no plan"); }).find("not a plan file"), std::string::npos);
  EXPECT_NE(said([&] { LeanEngine::load("/no/such/plan"); }).find("/no/such/plan"), std::string::npos);
}

/// A network whose steps all have kernels runs from a plan that may be refitted, too; what it carries is left
/// there.
TEST(LeanRuntime, NetworksInsideOfPlansAreLeftThere) {
  const auto lean = LeanEngine::parse(plan_of(kNetwork, {.optimization_level = 0, .is_refittable = true}));
  EXPECT_EQ(lean->infer(std::vector{picture({1, 3, 12, 12})})[0].shape(), (Shape{1, 10}));
}

}  // namespace
}  // namespace assay::lean_runtime_test
