#include "run/comparator.h"

#include <cmath>
#include <csignal>

#include "compare/simple.h"
#include "run/run_test_util.h"

namespace assay::comparator_test {
namespace {

class ComparatorTest : public FakeBackendTest {
 protected:
  ComparatorTest() {
    options.model.path = save_two_layers(folder);
    options.comparison = std::make_shared<SimpleComparison>(SimpleOptions{});
    options.runners = {fake_choice(), fake_choice()};
  }
  bool run() {
    log::Capture capture;
    struct Keep {
      std::string &out, &err;
      log::Capture& capture;
      ~Keep() { out = without_times(capture.out()), err = without_times(capture.err()); }
    } keep{out, err, capture};
    return run_and_compare(options) == RunOutcome::kPassed;
  }
  bool logged(const std::string& text) const { return (out + err).find(text) != std::string::npos; }

  RunOptions options;
  std::string out, err;
};

TEST_F(ComparatorTest, TwoRunnersThatAgree) {
  EXPECT_TRUE(run());
  EXPECT_TRUE(out.starts_with(R"([I] fake-runner-N0-T    | Activating and starting inference
[W] Input tensor: x [shape=BoundedShape([1, 2, 'n'], min=None, max=None)] | Will generate data of shape: [1, 2, 1].
    If this is incorrect, please provide a custom data loader.
[I] fake-runner-N0-T   
    ---- Inference Input(s) ----
    {x [dtype=float32, shape=(1, 2, 1)]}
[I] fake-runner-N0-T   
    ---- Inference Output(s) ----
    {y [dtype=float32, shape=(1, 2, 1)]}
[I] fake-runner-N0-T    | Completed 1 iteration(s) in 250 ms | Average inference time: 250 ms.
[I] fake-runner-N1-T    | Activating and starting inference
)")) << out;
  EXPECT_TRUE(logged("Accuracy Summary | fake-runner-N0-T vs. fake-runner-N1-T | Passed: 1/1 iterations"));
}

TEST_F(ComparatorTest, TwoRunnersThatDiffer) {
  int calls = 0;
  fake_output = [&](const std::string&, std::span<const Tensor> feed) {
    Tensor t = feed[0];
    t.mutable_data<float>()[0] += static_cast<float>(calls++);
    return t;
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("[E]     FAILED | Mismatched outputs: ['y']"));
}

TEST_F(ComparatorTest, RunnersOfOneBackendShareASession) {
  int opened = 0;
  fake_on_open = [&](const ModelSource&) { ++opened; };
  options.runners.push_back(fake_choice());
  EXPECT_TRUE(run());
  EXPECT_EQ(opened, 1);
}

TEST_F(ComparatorTest, ASessionThatMayDrawRandomNumbersIsNotShared) {
  int opened = 0;
  fake_on_open = [&](const ModelSource&) { ++opened; };
  for (const char* second : {"RandomUniformLike", "OperatorThatNobodyKnows"}) {
    opened = 0;
    options.model.path = save_two_layers(folder, second);
    EXPECT_TRUE(run());
    EXPECT_EQ(opened, 2) << second;
  }
}

TEST_F(ComparatorTest, EveryTensorWhenAllAreMarked) {
  options.model.mark_all = true;
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("[I] Loading model: " + options.model.path + "\n"));
  EXPECT_TRUE(logged("    {h [dtype=float32, shape=(1, 2, 1)],\n     y [dtype=float32, shape=(1, 2, 1)]}\n"))
      << "in the model's order, whatever order the backend delivers in";
}

TEST_F(ComparatorTest, WarmUpRunsDoNotCount) {
  int calls = 0;
  fake_output = [&](const std::string&, std::span<const Tensor> feed) { return ++calls, feed[0]; };
  options.runners.resize(1);
  options.warm_up = 3;
  options.data.iterations = 2;
  EXPECT_TRUE(run());
  EXPECT_EQ(calls, 5);
  EXPECT_TRUE(logged("[I] fake-runner-N0-T    | Running 3 warm-up run(s)\n"));
  EXPECT_TRUE(logged("[I] fake-runner-N0-T    | Finished 3 warm-up run(s)\n"));
  EXPECT_TRUE(logged("Completed 2 iteration(s) in 500 ms | Average inference time: 250 ms."));
}

TEST_F(ComparatorTest, NoIterationsPass) {
  options.data.iterations = 0;
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("Completed 1 iteration(s) in 0 ms | Average inference time: 0 ms."));
  EXPECT_TRUE(logged("Passed: 0/0 iterations | Pass Rate: 100.0%"));
}

TEST_F(ComparatorTest, SavedOutputsAreThoseBeforePostprocessingAndCanBeLoaded) {
  options.runners.resize(1);
  options.save_outputs = folder / "out.json";
  options.save_inputs = folder / "in.json";
  options.top_k.set("", TopK{.k = 1});
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("[I] Saving inference results to " + folder / "out.json" + "\n"));
  const RunResults saved = load_run_results(folder / "out.json");
  ASSERT_EQ(saved.runners.size(), 1U);
  EXPECT_EQ(saved.runners[0].second[0].outputs[0].tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(saved.runners[0].second[0].runtime, 0.25);

  options.save_outputs.clear();
  options.save_inputs.clear();
  options.load_inputs = {folder / "in.json"};
  options.load_outputs = {folder / "out.json"};
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("[I] Loading input data from " + folder / "in.json" + "\n"));
  EXPECT_TRUE(logged("[I] Loading inference results from " + folder / "out.json" + "\n"));
  EXPECT_TRUE(logged("Comparing Output: 'y' (dtype=int64"));
}

TEST_F(ComparatorTest, LoadedOutputsCompareWithoutAnyRunner) {
  options.runners.resize(1);
  options.save_outputs = folder / "out.json";
  EXPECT_TRUE(run());
  options.runners.clear();
  options.save_outputs.clear();
  options.load_outputs = {folder / "out.json", folder / "out.json"};
  EXPECT_TRUE(run());
  EXPECT_TRUE(out.starts_with(
      "[W] No runners have been selected. Inference will not be run!\n[W] No runners were provided "
      "to Comparator.run(). Inference will not be run, and run results will be empty.\n"));
  EXPECT_TRUE(logged("Difference is within tolerance"));
}

TEST_F(ComparatorTest, ValidationFailsTheRun) {
  fake_output = [](const std::string&, std::span<const Tensor> feed) {
    Tensor t = feed[0];
    t.mutable_data<float>()[0] = NAN;
    return t;
  };
  options.runners.resize(1);
  EXPECT_TRUE(run());
  options.validate = true;
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("[E]         NaN Detected"));
}

TEST_F(ComparatorTest, TheVerdictDecidesToo) {
  options.runners.resize(1);
  options.arbitrate = true;
  EXPECT_FALSE(run()) << "the input itself is not what Relu and Neg give";
  EXPECT_TRUE(logged("fake-runner-N0-T | 0 output(s) agree, 0 differ by rounding only, 1 wrong"));
  fake_output = [](const std::string&, std::span<const Tensor> feed) {
    Tensor t = feed[0];
    for (float& v : t.mutable_span<float>()) v = -std::max(v, 0.0F);
    return t;
  };
  options.data.iterations = 2;
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("[I] Iteration: 1\n"));
  EXPECT_TRUE(logged("fake-runner-N0-T | 1 output(s) agree, 0 differ by rounding only, 0 wrong"));
}

/// What Relu and Neg give; `spoiled` is off by 1 %.
Tensor layers_output(const std::string& output, const Tensor& x, const std::string& spoiled) {
  Tensor t = x;
  for (float& v : t.mutable_span<float>()) {
    v = std::max(v, 0.0F);
    if (output == "y") v = -v;
    if (output == spoiled) v = v * 1.01F - 0.01F;
  }
  return t;
}

TEST_F(ComparatorTest, AWrongOutputIsTracedByASecondRun) {
  options.runners.resize(1);
  options.arbitrate = true;
  fake_output = [](const std::string& output, std::span<const Tensor> feed) {
    return layers_output(output, feed[0], "y");
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("Tracing | Running ['fake-runner-N0-T'] again with every layer marked"));
  EXPECT_TRUE(logged("First Divergence | fake-runner-N0-T | Node 'neg' (Neg)"));
  options.trace = false;
  EXPECT_FALSE(run());
  EXPECT_FALSE(logged("Tracing | "));
}

TEST_F(ComparatorTest, AnErrorThatGoesWhenLayersAreMarkedIsInWhatIsFused) {
  options.runners.resize(1);
  options.arbitrate = true;
  bool fused = true;
  fake_on_open = [&](const ModelSource& source) { fused = source.model->graph->outputs.size() == 1; };
  fake_output = [&](const std::string& output, std::span<const Tensor> feed) {
    return layers_output(output, feed[0], fused ? "y" : "");
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("so it is in what the backend fuses or leaves out"));
}

TEST_F(ComparatorTest, ResultsOfOtherInputsAreNoticed) {
  options.runners.resize(1);
  options.save_outputs = folder / "out.json";
  EXPECT_TRUE(run());
  options.load_outputs = {options.save_outputs};
  options.save_outputs.clear();
  EXPECT_TRUE(run());
  EXPECT_FALSE(logged("other inputs"));
  options.data.seed = 77;
  EXPECT_FALSE(run()) << "the values differ";
  options.arbitrate = true;
  EXPECT_NE(error_of([&] { run(); }).find("were made with other inputs"), std::string::npos);
  options.partial = true;
  EXPECT_EQ(error_of([&] { run(); }), "");
}

TEST_F(ComparatorTest, TheVerdictNeedsTheModel) {
  options.runners.clear();
  options.model.path.clear();
  options.arbitrate = true;
  EXPECT_NE(error_of([&] { run(); }).find("--arbiter needs the model"), std::string::npos);
}

TEST_F(ComparatorTest, ARunnerNeedsAModel) {
  options.model.path.clear();
  EXPECT_THROW(run(), log::LoggedError);
  EXPECT_TRUE(err.starts_with("[!] One or more runners was specified, but no model file was provided."));
}

TEST_F(ComparatorTest, AMissingBackendSaysWhy) {
  options.session.library = "gone";
  EXPECT_EQ(error_of([&] { run(); }), "--fake cannot be used: its library is gone.");
}

TEST_F(ComparatorTest, NoCommonOutputs) {
  options.runners.resize(1);
  options.save_outputs = folder / "out.json";
  EXPECT_TRUE(run());
  RunResults saved = load_run_results(folder / "out.json");
  saved.runners[0].second[0].outputs.clear();
  save_run_results(saved, folder / "out.json");
  options.save_outputs.clear();
  options.load_outputs = {folder / "out.json"};
  EXPECT_NE(error_of([&] { run(); }).find("no common outputs found"), std::string::npos);
}

TEST_F(ComparatorTest, FeedsThatDoNotFitTheModelAreRefused) {
  StoredTensorList wrong = {{"x", Tensor::from<float>({1, 3, 1}, std::vector<float>{1, 2, 3})}};
  save_inputs(InputData{wrong}, folder / "in.json");
  options.load_inputs = {folder / "in.json"};
  EXPECT_THROW(run(), log::LoggedError);
  EXPECT_TRUE(
      logged("Received incompatible shape: (1, 3, 1).\n    Note: Expected a shape compatible with: "
             "BoundedShape([1, 2, 'n'], min=None, max=None)"))
      << out << err;
}

TEST_F(ComparatorTest, SubprocessesGiveTheSameResults) {
  options.use_subprocess = true;
  options.model.mark_all = true;
  options.data.iterations = 2;
  options.save_outputs = folder / "out.json";
  EXPECT_TRUE(run());
  const RunResults sub = load_run_results(folder / "out.json");
  options.use_subprocess = false;
  EXPECT_TRUE(run());
  const RunResults own = load_run_results(folder / "out.json");
  ASSERT_EQ(sub.runners.size(), 2U);
  for (size_t r = 0; r < 2; ++r)
    for (size_t i = 0; i < 2; ++i) {
      const StoredTensorList &a = sub.runners[r].second[i].outputs, &b = own.runners[r].second[i].outputs;
      ASSERT_EQ(a.size(), 2U);
      for (size_t o = 0; o < 2; ++o) {
        EXPECT_EQ(a[o].name, b[o].name);
        EXPECT_TRUE(a[o].tensor.load().identical(b[o].tensor.load()));
      }
    }
}

TEST_F(ComparatorTest, AChildThatDiesIsReported) {
  options.use_subprocess = true;
  options.runners.resize(1);
  fake_on_open = [](const ModelSource&) { std::raise(SIGKILL); };
  EXPECT_THROW(run(), log::LoggedError);
  EXPECT_TRUE(
      logged("[!] fake-runner-N0-T    | Terminated prematurely. It was killed by signal 9 (Killed).\n"))
      << err;
}

TEST_F(ComparatorTest, AChildThatFailsIsReported) {
  options.use_subprocess = true;
  options.runners.resize(1);
  fake_on_open = [](const ModelSource&) { fail(ErrorCode::kUnsupported, "the backend refuses"); };
  EXPECT_THROW(run(), log::LoggedError);
  EXPECT_TRUE(logged("| Terminated prematurely. Check the message logged above.\n")) << err;
}

TEST_F(ComparatorTest, StringsTravelFromAChildToo) {
  options.use_subprocess = true;
  fake_output = [](const std::string&, std::span<const Tensor>) {
    return Tensor::vector<std::string>({"", "two\nlines"});
  };
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("Comparing Output: 'y' (dtype="));
  EXPECT_TRUE(logged("shape=(2,)) with 'y'"));
}

}  // namespace
}  // namespace assay::comparator_test
