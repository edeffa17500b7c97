#include "run/comparator.h"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/expected_error.h"
#include "compare/metrics.h"
#include "compare/simple.h"
#include "console/failure.h"
#include "run/accuracy_results.h"
#include "run/run_test_util.h"

namespace assay::comparator_test {
namespace {

class ComparatorTest : public FakeBackendTest {
 protected:
  ComparatorTest() {
    options.model.path = save_two_layers(folder);
    options.functions = {std::make_shared<SimpleComparison>(SimpleOptions{})};
    options.runners = {fake_choice(), fake_choice()};
  }
  bool run() {
    log::Capture capture;
    struct Keep {
      std::string &out, &err;
      log::Capture& capture;
      ~Keep() { out = without_times(capture.out()), err = without_times(capture.err()); }
    } keep{out, err, capture};
    try {
      return run_printed(options).outcome == RunOutcome::kPassed;
    } catch (const std::exception&) {
      report_exception();
      throw;
    }
  }
  bool logged(const std::string& text) const { return (out + err).find(text) != std::string::npos; }

  RunOptions options;
  std::string out, err;
};

TEST_F(ComparatorTest, TwoRunnersThatAgree) {
  EXPECT_TRUE(run());
  EXPECT_TRUE(out.starts_with(R"([I] fake-runner-N0-T    | Activating and starting inference
[I] fake-runner-N1-T    | Activating and starting inference
[W] Input tensor: x [shape=BoundedShape([1, 2, 'n'], min=None, max=None)] | Will generate data of shape: [1, 2, 1].
    If this is incorrect, please provide a custom data loader.
[I] Streaming iteration 0
    ---- Inference Input(s) ----
    {x [dtype=float32, shape=(1, 2, 1)]}
[I] fake-runner-N0-T   
    ---- Inference Output(s) ----
    {y [dtype=float32, shape=(1, 2, 1)]}
[I] fake-runner-N1-T   
    ---- Inference Output(s) ----
    {y [dtype=float32, shape=(1, 2, 1)]}
[I] Accuracy Comparison | fake-runner-N0-T vs. fake-runner-N1-T
[I] Iteration: 0
)")) << out;
  EXPECT_TRUE(logged("Accuracy Summary | fake-runner-N0-T vs. fake-runner-N1-T | Passed: 1/1 iterations"));
}

TEST_F(ComparatorTest, RunnersOneAfterTheOther) {
  options.sequential_runners = true;
  options.data.iterations = 2;
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
[I] fake-runner-N0-T    | Completed 2 iteration(s) in 500 ms | Average inference time: 250 ms.
[I] fake-runner-N1-T    | Activating and starting inference
)")) << out;
  EXPECT_TRUE(logged("[I] Iteration: 1\n"));
}

TEST_F(ComparatorTest, TheReportHoldsWhatWasFound) {
  options.data.iterations = 3;
  int calls = 0;
  fake_output = [&](const std::string&, std::span<const Tensor> feed) {
    Tensor t = feed[0];
    if (calls++ == 3) t.mutable_data<float>()[0] += 1;
    return t;
  };
  log::Capture capture;
  const RunReport report = run_printed(options);
  ASSERT_EQ(report.runners.size(), 2U);
  EXPECT_EQ(report.runners[1].iterations, 3);
  EXPECT_DOUBLE_EQ(report.runners[1].seconds, 0.75);
  EXPECT_EQ(report.iterations, 3);
  ASSERT_EQ(report.pairs.size(), 1U);
  EXPECT_EQ(report.pairs[0].passed_iterations, 2);
  const OutputSummary& y = report.pairs[0].functions.at(0).outputs.at(0);
  EXPECT_EQ(y.output, "y");
  EXPECT_EQ(y.passed, 2);
  EXPECT_NEAR(std::get<SimpleMetrics>(y.mean).max_absdiff, 1.0 / 3, 1e-6);
  EXPECT_EQ(report.outcome, RunOutcome::kFailed);
}

/// Counts a run's events.
class Counts : public RunObserver {
 public:
  void on_inputs(const InputsEvent&) override { order += "i"; }
  void on_outputs(const OutputsEvent&) override { order += "o"; }
  void on_output_end(const OutputComparison& c) override {
    order += "c";
    tensors += c.pair.output0.numel();
  }
  void on_summary(const PairSummary&, Aggregation, const std::string&) override { order += "s"; }
  std::string order;
  int64_t tensors = 0;
};

TEST_F(ComparatorTest, ObserversSeeEachStepAndNothingIsPrinted) {
  options.data.iterations = 2;
  log::Capture capture({.threshold = log::Severity::kError});
  Counts counts;
  EXPECT_EQ(assay::run(options, counts).outcome, RunOutcome::kPassed);
  EXPECT_EQ(counts.order, "ioocioocs");
  EXPECT_EQ(counts.tensors, 4);
  options.sequential_runners = true;
  Counts sequential;
  assay::run(options, sequential);
  EXPECT_EQ(sequential.order, "ioioioioccs");
  EXPECT_EQ(capture.out(), "");
}

TEST_F(ComparatorTest, RunsOfDifferentLengthsFailUnlessTheyMayBePartial) {
  options.runners.resize(1);
  options.data.iterations = 2;
  options.save_outputs = folder / "out";
  EXPECT_TRUE(run());
  options.load_outputs = {options.save_outputs};
  options.save_outputs.clear();
  for (const int64_t iterations : {1, 3}) {
    options.data.iterations = iterations;
    options.partial = false;
    EXPECT_FALSE(run());
    EXPECT_TRUE(logged("[W] The provided streams have different numbers of iterations. Only the first " +
                       std::to_string(std::min<int64_t>(iterations, 2)) +
                       " iteration(s) -- present in all 2 streams -- were "
                       "compared; stream(s) at index [" +
                       (iterations == 1 ? "0" : "1") + "] ran out first.\n"))
        << out;
    options.partial = true;
    EXPECT_TRUE(run()) << out;
  }
}

TEST_F(ComparatorTest, AnEmptyFolderOfResultsComparesNothingAndFails) {
  std::filesystem::create_directory(folder / "empty");
  options.runners.resize(1);
  options.load_outputs = {folder / "empty"};
  EXPECT_FALSE(run());
  options.partial = true;
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("[E] FAILED | Nothing was compared: there was no iteration.\n"));
}

TEST_F(ComparatorTest, FoldersHoldAFilePerIterationThatCanBeLoaded) {
  options.runners.resize(1);
  options.data.iterations = 3;
  options.save_inputs = folder / "in";
  options.save_outputs = folder / "golden";
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged(
      "[I] Saving inference results to a directory of per-iteration files: " + (folder / "golden") + "\n"));
  EXPECT_TRUE(logged("[I] Saving inference input data to " + (folder / "in") + "/0000000002.json\n"));
  const RunResults second = load_run_results(folder / "golden/0000000001.json");
  ASSERT_EQ(second.runners.size(), 1U);
  EXPECT_EQ(second.runners[0].second.size(), 1U);
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(logged("the directory is not empty. Per-iteration files require an empty or new directory"))
      << err;
  options.load_inputs = {options.save_inputs};
  options.load_outputs = {options.save_outputs};
  options.save_inputs.clear();
  options.save_outputs.clear();
  options.data.seed = 99;
  EXPECT_TRUE(run()) << "the loaded inputs are used";
  EXPECT_TRUE(logged("[I] Loading inference results from " + (folder / "golden") + "/0000000002.json\n"));
  options.sequential_runners = true;
  EXPECT_TRUE(run());
}

TEST_F(ComparatorTest, WhatIsLoadedMustNotBeWrittenOver) {
  options.runners.resize(1);
  options.load_inputs = {folder / "x/in.json"};
  options.save_outputs = folder / "x";
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(logged("overlaps the save path '" + (folder / "x") + "'")) << err;
  options.load_inputs.clear();
  options.save_inputs = folder / "x/";
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(logged(
      "[!] Two of save_inputs_path, save_outputs_path, and save_input_blob_path resolve to the same path"))
      << err;
}

TEST_F(ComparatorTest, RawInputsAreSavedAsTheyLieInMemory) {
  options.runners.resize(1);
  options.data.iterations = 2;
  options.save_input_blobs = folder / "blobs";
  options.save_inputs = folder / "in.json";
  EXPECT_TRUE(run());
  const Tensor x = load_inputs(folder / "in.json")[1][0].tensor.load();
  std::ifstream file(folder / "blobs/0000000001/x.bin", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes, std::string(static_cast<const char*>(x.data()), x.nbytes()));
}

TEST_F(ComparatorTest, WhatIsCompleteIsSavedWhenALaterIterationFails) {
  options.runners.resize(1);
  options.data.iterations = 3;
  options.save_outputs = folder / "out.json";
  options.save_inputs = folder / "in";
  int calls = 0;
  fake_output = [&](const std::string&, std::span<const Tensor> feed) {
    require(++calls < 3, ErrorCode::kUnsupported, "no more");
    return feed[0];
  };
  EXPECT_NE(error_of([&] { run(); }).find("no more"), std::string::npos);
  EXPECT_EQ(load_run_results(folder / "out.json").runners.at(0).second.size(), 2U);
  EXPECT_EQ(load_inputs(folder / "in/0000000001.json").size(), 1U);
}

TEST_F(ComparatorTest, ARunnerThatFailsLeavesTheOthersSavedAndJudged) {
  for (const bool one_after_the_other : {false, true}) {
    options.sequential_runners = one_after_the_other;
    options.arbitrate = true;
    options.save_outputs = folder / (one_after_the_other ? "in_turn.json" : "streamed.json");
    int calls = 0;
    fake_output = [&](const std::string&, std::span<const Tensor> feed) {
      require(++calls < 2, ErrorCode::kUnsupported, "the second one fails");
      Tensor t = feed[0];
      for (float& v : t.mutable_span<float>()) v = -std::max(v, 0.0F);
      return t;
    };
    EXPECT_NE(error_of([&] { run(); }).find("the second one fails"), std::string::npos);
    const RunResults saved = load_run_results(options.save_outputs);
    ASSERT_EQ(saved.runners.size(), 1U);
    EXPECT_EQ(saved.runners[0].second.size(), 1U);
    EXPECT_NE(saved.runners[0].first.find("-N0-"), std::string::npos) << saved.runners[0].first;
    EXPECT_EQ(logged("PASSED | fake-runner-N0-T | 1 output(s) agree"), !one_after_the_other);
  }
}

TEST_F(ComparatorTest, AccuracyResultsAreSaved) {
  options.functions.push_back(std::make_shared<MetricComparison>(CompareFunction::kPsnr, MetricOptions{}));
  options.data.iterations = 2;
  options.save_accuracy_results = folder / "accuracy.json";
  EXPECT_TRUE(run());
  const AccuracyResults results = load_accuracy_results(folder / "accuracy.json");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].function, CompareFunction::kSimple);
  EXPECT_EQ(results[1].metric_fields(), (std::vector<std::string>{"psnr"}));
  ASSERT_EQ(results[1].pairs.at(0).iterations.size(), 2U);
  EXPECT_EQ(std::get<double>(results[1].pairs[0].iterations[1].at(0).metrics), INFINITY);
  EXPECT_TRUE(results[0].pairs[0].iterations[0].at(0).passed);
}

/// Returns the numbers 1, 2, ... up to a count.
class Counting : public DataSource {
 public:
  explicit Counting(int64_t count) : count_(count) {}
  void begin(const std::vector<TensorInfo>& inputs) override { names += inputs.at(0).name; }
  std::optional<TensorList> next() override {
    if (given_ == count_) return std::nullopt;
    const auto v = static_cast<float>(++given_);
    return TensorList{{"x", Tensor::from<float>({1, 2, 1}, std::vector<float>{v, -v})}};
  }
  std::string names;

 private:
  int64_t count_, given_ = 0;
};

TEST_F(ComparatorTest, DataOfASourceOfOnesOwnInBothOrders) {
  for (const bool sequential : {false, true}) {
    const auto source = std::make_shared<Counting>(3);
    options.source = source;
    options.sequential_runners = sequential;
    float sum = 0;
    fake_output = [&](const std::string&, std::span<const Tensor> feed) {
      return sum += feed[0].data<float>()[0], feed[0];
    };
    EXPECT_TRUE(run());
    EXPECT_EQ(sum, 2 * (1 + 2 + 3)) << sequential;
    EXPECT_EQ(source->names, "x");
  }
}

TEST_F(ComparatorTest, TwoRunnersThatDiffer) {
  int calls = 0;
  fake_output = [&](const std::string&, std::span<const Tensor> feed) {
    Tensor t = feed[0];
    t.mutable_data<float>()[0] += static_cast<float>(calls++);
    return t;
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("[E]     FAILED | simple | Mismatched outputs: ['y']"));
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
  options.sequential_runners = true;
  options.data.iterations = 2;
  EXPECT_TRUE(run());
  EXPECT_EQ(calls, 5);
  EXPECT_TRUE(logged("[I] fake-runner-N0-T    | Running 3 warm-up run(s)\n"));
  EXPECT_TRUE(logged("[I] fake-runner-N0-T    | Finished 3 warm-up run(s)\n"));
  EXPECT_TRUE(logged("Completed 2 iteration(s) in 500 ms | Average inference time: 250 ms."));
}

TEST_F(ComparatorTest, WithoutIterationsNothingIsComparedWhichFails) {
  options.data.iterations = 0;
  for (const bool sequential : {false, true}) {
    options.sequential_runners = sequential;
    EXPECT_FALSE(run());
    EXPECT_TRUE(logged("[W] Data loader did not yield any input data.\n")) << out;
    EXPECT_TRUE(logged("[E] FAILED | Nothing was compared: there was no iteration.\n"));
  }
  options.runners.resize(1);
  EXPECT_TRUE(run()) << "nothing was to be compared";
  EXPECT_TRUE(logged("Completed 0 iteration(s) in 0 ms"));
}

TEST_F(ComparatorTest, SavedOutputsAreThoseBeforePostprocessingAndCanBeLoaded) {
  options.runners.resize(1);
  options.save_outputs = folder / "out.json";
  options.save_inputs = folder / "in.json";
  options.postprocess = std::make_shared<TopKPostprocess>(TopK{.k = 1});
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
      "[W] No runners have been selected. Inference will not be run!\n[I] Loading inference results from "));
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
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(logged("[E]     NaN Detected"));
  EXPECT_TRUE(
      logged("[!] Output validation failed: iteration 0 contains invalid values (NaNs/Infs). See the errors "
             "above.\n"));
  options.sequential_runners = true;
  EXPECT_FALSE(run());
  EXPECT_TRUE(logged("[I] Output Validation | Runners: ['fake-runner-N0-T']\n[I]     fake-runner-N0-T"));
  EXPECT_TRUE(logged("[E]     FAILED | Output Validation\n"));
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

/// Results of Relu and Neg; `spoiled` is off by 1 %.
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
  EXPECT_NE(error_of([&] { run(); }).find("A verdict needs the model"), std::string::npos);
}

TEST_F(ComparatorTest, ARunnerNeedsAModel) {
  options.model.path.clear();
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(err.starts_with("[!] One or more runners was specified, but no model file was provided."));
}

TEST_F(ComparatorTest, AMissingBackendSaysWhy) {
  options.session.library = "gone";
  EXPECT_EQ(error_of([&] { run(); }), "fake cannot be used: its library is gone.");
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
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(
      logged("[!] Input tensor: x | Cannot reuse input data due to mismatch in shape or data type.\n    "
             "Note: Provided "
             "input: [dtype=float32, shape=(1, 3, 1)], Requested input: [dtype=float32, "
             "shape=BoundedShape([1, 2, 'n'], "
             "min=None, max=None)]"))
      << out << err;
}

TEST_F(ComparatorTest, SubprocessesGiveTheSameResults) {
  options.use_subprocess = true;
  options.sequential_runners = true;
  options.model.mark_all = true;
  options.data.iterations = 2;
  options.save_outputs = folder / "out.json";
  EXPECT_TRUE(run());
  const RunResults sub = load_run_results(folder / "out.json");
  options.use_subprocess = false;
  options.sequential_runners = false;
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
  options.sequential_runners = true;
  options.runners.resize(1);
  fake_on_open = [](const ModelSource&) { std::raise(SIGKILL); };
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(
      logged("[!] fake-runner-N0-T    | Terminated prematurely. It was killed by signal 9 (Killed).\n"))
      << err;
}

TEST_F(ComparatorTest, AChildThatFailsIsReported) {
  options.use_subprocess = true;
  options.sequential_runners = true;
  options.runners.resize(1);
  fake_on_open = [](const ModelSource&) { fail(ErrorCode::kUnsupported, "the backend refuses"); };
  EXPECT_THROW(run(), ExpectedError);
  EXPECT_TRUE(logged("[!] the backend refuses")) << err;
  EXPECT_TRUE(logged("| Terminated prematurely. Check the message logged above.\n")) << err;
}

TEST_F(ComparatorTest, StringsTravelFromAChildToo) {
  options.use_subprocess = true;
  options.sequential_runners = true;
  fake_output = [](const std::string&, std::span<const Tensor>) {
    return Tensor::vector<std::string>({"", "two\nlines"});
  };
  EXPECT_TRUE(run());
  EXPECT_TRUE(logged("Comparing Output: 'y' (dtype="));
  EXPECT_TRUE(logged("shape=(2,)) with 'y'"));
}

}  // namespace
}  // namespace assay::comparator_test
