#include "run/conformance_suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>

#include "assay/backend_set.h"
#include "run/run_test_util.h"

namespace assay::conformance_suite_test {
namespace {

namespace fs = std::filesystem;
using Verdict = ConformanceResult::Verdict;

/// A TensorProto of float32 numbers.
std::string tensor_bytes(const std::vector<float>& values) {
  std::string bytes;
  protozero::pbf_writer w(bytes);
  w.add_int64(1, static_cast<int64_t>(values.size()));
  w.add_int32(2, 1);
  w.add_bytes(9, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return bytes;
}

/// y = Relu(x) of two numbers, with its expected output.
void write_case(const fs::path& folder, const std::vector<float>& expected) {
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{2}));
  Value* y = g.add_value("y", Type::tensor(DType::kFloat32, Dims{2}));
  g.add_node("Relu", {x}, {y});
  g.outputs = {y};
  fs::create_directories(folder / "test_data_set_0");
  save_model(model, (folder / "model.onnx").string());
  std::ofstream(folder / "test_data_set_0" / "input_0.pb") << tensor_bytes({-1, 2});
  std::ofstream(folder / "test_data_set_0" / "output_0.pb") << tensor_bytes(expected);
}

/// Two cases.
struct ConformanceSuite : testing::Test {
  ConformanceSuite() {
    write_case(root / "node" / "test_right", {0, 2});
    write_case(root / "node" / "test_wrong", {0, 3});
  }

  const std::vector<ConformanceTarget> all_targets = conformance_targets(built_in_backends());

  const ConformanceTarget& target(std::string_view name) const {
    for (const ConformanceTarget& t : all_targets)
      if (t.name == name) return t;
    throw std::out_of_range("no such target");
  }

  TemporaryFolder folder;
  fs::path root = folder / "cases";
};

TEST_F(ConformanceSuite, FindsCasesAndWhatTheyUse) {
  const std::vector<ConformanceCase> cases = find_conformance_cases(root.string());
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].name, "node/test_right");
  EXPECT_EQ(find_conformance_cases(cases[0].folder)[0].name, "test_right");
  fs::create_directories(root / "empty");
  EXPECT_THROW(find_conformance_cases((root / "empty").string()), Error);
  EXPECT_THROW(find_conformance_cases((root / "none").string()), Error);
}

TEST_F(ConformanceSuite, EveryBackendAndVariantIsATarget) {
  std::vector<std::string> names = {"inference"};
  for (const Backend* b : built_in_backends().all()) {
    names.emplace_back(b->name);
    for (const BackendVariant& v : b->variants) names.push_back(fmt::format("{}-{}", b->name, v.name));
  }
  std::vector<std::string> targets;
  for (const ConformanceTarget& t : all_targets) targets.push_back(t.name);
  EXPECT_EQ(targets, names);
  EXPECT_TRUE(target("engine-unoptimized").is_default);
  EXPECT_FALSE(target("onnxrt").is_default) << "it is not part of this build";
}

TEST_F(ConformanceSuite, EveryTargetTellsRightFromWrong) {
  const std::vector<ConformanceCase> cases = find_conformance_cases(root.string());
  std::vector<const ConformanceTarget*> targets;
  for (const ConformanceTarget& t : all_targets)
    if (t.is_default) targets.push_back(&t);
  for (const ConformanceOutcome& o : run_conformance_suite(cases, targets, {.workers = 2})) {
    const bool is_right = o.test->name == "node/test_right" || o.target->name == "inference";
    EXPECT_EQ(o.result.verdict, is_right ? Verdict::kPassed : Verdict::kFailed)
        << o.target->name << o.result.reason;
    EXPECT_EQ(o.use.operators, std::vector<std::string>{"Relu"});
    EXPECT_EQ(o.use.opsets, std::vector<std::string>{"ai.onnx 13"});
    if (!is_right) {
      EXPECT_EQ(o.result.reason, "output 'y': element 1 is 2 instead of 3");
    }
  }
}

TEST_F(ConformanceSuite, TolerancesComeFromTheCase) {
  std::ofstream(root / "node" / "test_wrong" / "data.json") << R"({"url": null, "rtol": 0.5, "atol": 0})";
  const std::vector<ConformanceCase> cases = find_conformance_cases(root.string());
  EXPECT_EQ(target("reference").run(cases[1]).verdict, Verdict::kPassed);
}

TEST_F(ConformanceSuite, WhatIsMissingOrDamagedFails) {
  fs::remove_all(root / "node" / "test_right" / "test_data_set_0");
  std::ofstream(root / "node" / "test_wrong" / "model.onnx") << "no model";
  const std::vector<ConformanceCase> cases = find_conformance_cases(root.string());
  EXPECT_EQ(target("reference").run(cases[0]).reason, "the case has no folder test_data_set_0");
  EXPECT_EQ(target("engine").run(cases[1]).verdict, Verdict::kFailed);
}

TEST_F(ConformanceSuite, ACrashFailsItsCaseOnly) {
  const std::vector<ConformanceCase> cases = find_conformance_cases(root.string());
  const ConformanceTarget crash = {"crash", "", [](const ConformanceCase& test) {
                                     if (test.name == "node/test_right") raise(SIGKILL);
                                     return ConformanceResult{.name = test.name, .reason = {}};
                                   }};
  const std::vector<const ConformanceTarget*> targets = {&crash};
  const auto outcomes = run_conformance_suite(cases, targets, {});
  EXPECT_EQ(outcomes[0].result.reason, "the process was killed by signal 9 (Killed)");
  EXPECT_EQ(outcomes[1].result.verdict, Verdict::kPassed);
}

}  // namespace
}  // namespace assay::conformance_suite_test
