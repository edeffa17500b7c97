// A run whose outputs are sequences: stored, compared, saved and judged tensor by tensor.
#include "arbiter/arbiter.h"
#include "compare/simple.h"
#include "ops/infer.h"
#include "ops/value_type.h"
#include "run/comparator.h"
#include "run/results.h"
#include "run/run_test_util.h"

namespace assay::container_results_test {
namespace {

class SequenceOutputs : public FakeBackendTest {
 protected:
  SequenceOutputs() {
    options.model.path = save_two_layers(folder);
    options.functions = {std::make_shared<SimpleComparison>(SimpleOptions{})};
    options.runners = {fake_choice(), fake_choice()};
    options.save_outputs = folder / "outputs.json";
  }
  bool run() {
    log::Capture capture;
    const bool passed = run_printed(options).outcome == RunOutcome::kPassed;
    text = without_times(capture.out() + capture.err());
    return passed;
  }
  /// From the second call on, the fake backend returns `second`.
  void give(const Tensor& first, const Tensor& second) {
    fake_output = [this, first, second](const std::string&, std::span<const Tensor>) {
      return calls++ == 0 ? first : second;
    };
  }
  bool logged(const std::string& part) const { return text.find(part) != std::string::npos; }

  RunOptions options;
  std::string text;
  int calls = 0;
};

const Tensor kA = Tensor::vector<float>({1, 2}), kB = Tensor::vector<float>({3}),
             kC = Tensor::vector<float>({4});

TEST_F(SequenceOutputs, AreComparedElementByElement) {
  give(Tensor::sequence({kA, kB}), Tensor::sequence({kA, kB}));
  EXPECT_TRUE(run()) << text;
  EXPECT_TRUE(logged("{y [dtype=sequence, shape=(2,)]}")) << text;
  const RunResults saved = load_run_results(options.save_outputs);
  std::vector<std::string> names;
  for (const NamedStoredTensor& t : saved.runners[0].second[0].outputs) names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"y.length", "y[0]", "y[1]"}));
  EXPECT_TRUE(saved.runners[1].second[0].outputs[2].tensor.load().identical(kB));
}

TEST_F(SequenceOutputs, DifferInAnElement) {
  give(Tensor::sequence({kA, kB}), Tensor::sequence({kA, kC}));
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("FAILED | simple | Mismatched outputs: ['y[1]']")) << text;
}

TEST_F(SequenceOutputs, DifferInLength) {
  give(Tensor::sequence({kA}), Tensor::sequence({kA, kB}));
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("'y.length'")) << text;
  give(Tensor::optional(kA), Tensor::optional({}));
  calls = 0;
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("'y.length'")) << text;
}

TEST_F(SequenceOutputs, CrossTheProcessBorder) {
  const Tensor maps = Tensor::sequence({Tensor::map(Tensor::vector<std::string>({"a", "b"}), kA),
                                        Tensor::map(Tensor::vector<std::string>({"c"}), kB)});
  give(maps, maps);
  options.use_subprocess = true;
  options.sequential_runners = true;
  EXPECT_TRUE(run()) << text;
  const RunResults saved = load_run_results(options.save_outputs);
  const StoredTensorList& outputs = saved.runners[0].second[0].outputs;
  ASSERT_EQ(outputs.size(), 5u);
  EXPECT_EQ(outputs[1].name, "y[0].keys");
  EXPECT_TRUE(outputs[1].tensor.load().identical(Tensor::vector<std::string>({"a", "b"})));
  EXPECT_EQ(outputs[4].name, "y[1].values");
  EXPECT_TRUE(outputs[4].tensor.load().identical(kB));
}

TEST_F(SequenceOutputs, InputsThatAreSequencesAreRefused) {
  Model model;
  model.opsets = {{"", 18}};
  Graph& g = *model.graph;
  g.name = "g";
  Value* s = g.add_input("s", sequence_of(Type::tensor(DType::kFloat32)));
  Value* n = g.add_value("n", Type::tensor(DType::kInt64, Dims()));
  g.add_node("SequenceLength", {s}, {n});
  g.outputs = {n};
  options.model.path = folder / "sequence.onnx";
  save_model(model, options.model.path);
  const std::string error = error_of([&] { run(); });
  EXPECT_NE(error.find("input 's' is of type seq(float32)"), std::string::npos) << error;
}

/// y = SplitToSequence of x / 3, one element each.
std::shared_ptr<Model> splitting_model() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2)}));
  Value* three = g.add_constant("three", Tensor::scalar(3.0F));
  Value *third = g.add_value("third"), *y = g.add_value("y");
  g.add_node("Div", {x, three}, {third}, {}, "div");
  g.add_node("SplitToSequence", {third}, {y}, {}, "split");
  g.outputs = {y};
  infer_shapes(*model);
  return model;
}

TEST(SequenceVerdict, JudgesEachElement) {
  const auto one = [](float v) { return StoredTensor(Tensor::vector<float>({v})); };
  const auto judged = [&](const StoredTensorList& outputs) {
    std::string text;
    const std::vector<Tensor> feed = {Tensor::vector<float>({1, 2})};
    const ArbiterCase given{"runner", &outputs};
    for (const ArbiterVerdict& v : arbitrate(splitting_model(), feed, {&given, 1}).outputs)
      text += v.output + (v.verdict == Verdict::kWrong ? ":wrong " : ":right ");
    return text;
  };
  const StoredTensor two = Tensor::scalar(int64_t{2}), three = Tensor::scalar(int64_t{3});
  EXPECT_EQ(judged({{"y.length", two}, {"y[0]", one(1.0F / 3)}, {"y[1]", one(2.0F / 3)}}),
            "y.length:right y[0]:right y[1]:right ");
  EXPECT_EQ(judged({{"y.length", two}, {"y[0]", one(1.0F / 3)}, {"y[1]", one(0.67F)}}),
            "y.length:right y[0]:right y[1]:wrong ");
  EXPECT_EQ(judged({{"y.length", three}, {"y[0]", one(1.0F / 3)}, {"y[1]", one(2.0F / 3)}, {"y[2]", one(1)}}),
            "y.length:wrong y[0]:right y[1]:right ");
}

/// y = ZipMap of x / 3: a map from a and b for each row.
TEST(SequenceVerdict, JudgesMapsInASequence) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}, {"ai.onnx.ml", 3}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2), Dim(2)}));
  Value *third = g.add_value("third"), *y = g.add_value("y");
  g.add_node("Div", {x, g.add_constant("three", Tensor::scalar(3.0F))}, {third}, {}, "div");
  g.add_node("ZipMap", {third}, {y}, {{"classlabels_strings", std::vector<std::string>{"a", "b"}}}, "zip",
             "ai.onnx.ml");
  g.outputs = {y};
  infer_shapes(*model);
  Tensor numbers = Tensor::allocate(DType::kFloat32, Shape{2, 2});
  std::ranges::copy(std::array{1.0F, 2.0F, 3.0F, 4.0F}, numbers.mutable_span<float>().begin());
  const std::vector<Tensor> feed = {numbers};
  const auto judged = [&](float last, const char* key) {
    const StoredTensor keys = Tensor::vector<std::string>({"a", "b"});
    const StoredTensorList outputs = {{"y.length", Tensor::scalar(int64_t{2})},
                                      {"y[0].keys", keys},
                                      {"y[0].values", Tensor::vector<float>({1.0F / 3, 2.0F / 3})},
                                      {"y[1].keys", Tensor::vector<std::string>({"a", key})},
                                      {"y[1].values", Tensor::vector<float>({1, last})}};
    const ArbiterCase given{"runner", &outputs};
    std::string wrong;
    const Arbitration found = arbitrate(model, feed, {&given, 1});
    for (const ArbiterVerdict& v : found.outputs)
      if (v.verdict == Verdict::kWrong) wrong += v.output + " ";
    return fmt::format("{}: {}", found.outputs.size(), wrong);
  };
  EXPECT_EQ(judged(4.0F / 3, "b"), "5: ");
  EXPECT_EQ(judged(1.34F, "b"), "5: y[1].values ");
  EXPECT_EQ(judged(4.0F / 3, "c"), "5: y[1].keys ");
}

TEST(SequenceVerdict, WhatIsTakenFromASequenceIsJudgedOnIt) {
  const auto model = splitting_model();
  Graph& g = *model->graph;
  Value* first = g.add_value("first");
  g.add_node("SequenceAt", {g.outputs[0], g.add_constant("zero", Tensor::scalar(int64_t{0}))}, {first}, {},
             "at");
  g.outputs.push_back(first);
  infer_shapes(*model);
  const auto one = [](float v) { return StoredTensor(Tensor::vector<float>({v})); };
  const StoredTensorList outputs = {{"third", Tensor::vector<float>({1.0F / 3, 2.0F / 3})},
                                    {"y.length", Tensor::scalar(int64_t{2})},
                                    {"y[0]", one(9)},
                                    {"y[1]", one(2.0F / 3)},
                                    {"first", one(9)}};
  const std::vector<Tensor> feed = {Tensor::vector<float>({1, 2})};
  const ArbiterCase given{"runner", &outputs};
  for (const ArbiterVerdict& v : arbitrate(model, feed, {&given, 1}).outputs) {
    EXPECT_EQ(v.verdict == Verdict::kWrong, v.output == "y[0]") << v.output;
    if (v.output == "y[0]") {
      EXPECT_EQ(v.basis, Basis::kNode);
    }
    if (v.output == "first") {
      EXPECT_EQ(v.verdict, Verdict::kInherited);
    }
  }
}

}  // namespace
}  // namespace assay::container_results_test
