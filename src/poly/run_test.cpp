// Settings that are refused, each with a sentence.
#include "assay/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "assay/error.h"
#include "base/log.h"

namespace assay::poly::run_test {
namespace {

namespace fs = std::filesystem;

class Run : public testing::Test {
 protected:
  Run() : folder_(fs::temp_directory_path() / ("assay-poly-run-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "m.onnxtxt") << "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                            "g (float[1,4] x) => (float[1,4] y) { y = Relu (x) }\n";
    settings.model.path = (folder_ / "m.onnxtxt").string();
    settings.runners = {{.backend = "reference"}, {.backend = "engine"}};
  }
  ~Run() override { fs::remove_all(folder_); }

  /// The error's message; empty when there is none.
  std::string error() const {
    const log::Capture capture;
    try {
      poly::run(settings);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }
  void expect_error(const std::string& part) const {
    EXPECT_NE(error().find(part), std::string::npos) << error();
  }

  RunSettings settings;
  fs::path folder_;
};

TEST_F(Run, EndsWhenAStepSaysSo) {
  settings.data.iterations = 100;
  int steps = 0;
  settings.on_step = [&] {
    if (++steps == 5) throw Error(ErrorCode::kInvalidArgument, "enough");
  };
  expect_error("enough");
  EXPECT_EQ(steps, 5);
}

TEST_F(Run, TellsWhatItFound) {
  settings.data.iterations = 2;
  const log::Capture capture;
  const RunSummary summary = poly::run(settings);
  EXPECT_EQ(summary.outcome, RunSummary::Outcome::kPassed);
  EXPECT_EQ(summary.exit_status(), 0);
  EXPECT_EQ(summary.runners.size(), 2U);
  EXPECT_EQ(summary.iterations, 2);
  EXPECT_TRUE(summary.accuracy);
  EXPECT_EQ(summary.verdicts, (std::map<std::string, int64_t>{{"agrees", 4}}));
}

TEST_F(Run, RunnersAreOneOfThreeKinds) {
  settings.runners = {{}};
  expect_error("one of these, not 0");
  settings.runners = {{.backend = "engine", .script = "r.py"}};
  expect_error("one of these, not 2");
  settings.runners = {{.backend = "nothing"}};
  expect_error("nothing");
  settings.runners = {{.script = "nowhere.py"}};
  expect_error("nowhere.py");
}

TEST_F(Run, ModelsAreOfKnownFormats) {
  settings.model.format = "tflite";
  expect_error("'tflite' is no format of models; there are: onnx");
  settings.model = {};
  expect_error("no model file was provided");
}

TEST_F(Run, AnEditChangesTheModelThatItGets) {
  settings.model.edits = {[](Network& network) { network = std::make_shared<Model>(); }};
  expect_error("it does not replace it");
  settings.model.edits = {[](Network& network) { network->graph->name = "mine"; }};
  EXPECT_EQ(error(), "");
}

TEST_F(Run, OptionsAreThoseOfModules) {
  settings.extensions.options = {{"--res-des-speed", {"slow"}}};
  expect_error("no module of the run has the option --res-des-speed");
  settings.extensions = {};
  settings.extensions.modules = {"nowhere.so"};
  expect_error("nowhere.so");
}

TEST_F(Run, WhatContradictsItself) {
  settings.check_average = true;
  expect_error("not supported with check_error_stat='elemwise'");
  settings.compare_funcs = {CompareFunc::simple({.check_error_stat = "max"})};
  EXPECT_EQ(error(), "");
  settings.fail_fast = true;
  expect_error("cannot be averaged over the iterations of a run that ends at the first failure");
  settings = {};
  settings.warm_up = 2;
  expect_error("one after the other");
}

TEST(CompareFunc, ValuesAreChecked) {
  EXPECT_THROW(CompareFunc::simple({.check_error_stat = "mode"}), Error);
  EXPECT_THROW(CompareFunc::simple({.error_quantile = 1.5}), Error);
  EXPECT_THROW(CompareFunc::script("nowhere.py"), Error);
  EXPECT_THROW(PostprocessFunc::script("nowhere.txt"), Error);
}

TEST(ByOutput, OneValueOrOneForEachName) {
  const ByOutput<Number> one = 1, named = {{"y", 1e-3}, {"", 2}};
  ASSERT_EQ(one.entries().size(), 1U);
  EXPECT_EQ(one.entries()[0].first, "");
  EXPECT_EQ(one.entries()[0].second.integer(), 1);
  ASSERT_EQ(named.entries().size(), 2U);
  EXPECT_EQ(named.entries()[0].first, "y");
  EXPECT_EQ(named.entries()[0].second.integer(), std::nullopt);
  EXPECT_TRUE(ByOutput<std::string>().entries().empty());
  const ByOutput<std::string> text = "max", texts = {{"y", "mean"}};
  EXPECT_EQ(text.entries()[0].second, "max");
  EXPECT_EQ(texts.entries()[0], (std::pair<std::string, std::string>("y", "mean")));
}

}  // namespace
}  // namespace assay::poly::run_test
