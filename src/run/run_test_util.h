// Shared parts of this module's tests: models in a temporary folder, and a backend made from a function.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/temporary_folder.h"
#include "console/text_renderer.h"
#include "graph/export.h"
#include "run/comparator.h"
#include "run/runner.h"

namespace assay {

/// x [1, 2, 'n'] -> Relu -> h -> Neg -> y, saved.
inline std::string save_two_layers(const TemporaryFolder& folder, const std::string& second = "Neg") {
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  g.name = "two_layers";
  const Dims dims{Dim(1), Dim(2), Dim::symbol("n")};
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, dims));
  Value* h = g.add_value("h");
  Value* y = g.add_value("y", Type::tensor(DType::kFloat32, dims));
  g.add_node("Relu", {x}, {h}, {}, "relu");
  g.add_node(second, {h}, {y}, {}, "neg");
  g.outputs = {y};
  save_model(model, folder / "model.onnx");
  return folder / "model.onnx";
}

/// The fake backend's result for one output of the model.
using FakeOutput = std::function<Tensor(const std::string& output, std::span<const Tensor> feed)>;
inline FakeOutput fake_output = [](const std::string&, std::span<const Tensor> feed) { return feed[0]; };
/// Called when a session of the fake backend is opened.
inline std::function<void(const ModelSource&)> fake_on_open = [](const ModelSource&) {};

class FakeSession final : public Session {
 public:
  explicit FakeSession(const ModelSource& source)
      : inputs_(tensor_infos(source.model->graph->inputs)),
        outputs_(tensor_infos(source.model->graph->outputs)) {}
  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    for (size_t i = outputs_.size(); i-- > 0;) sink(i, fake_output(outputs_[i].name, feed));
  }
  double last_run_seconds() const override { return 0.25; }

 private:
  std::vector<TensorInfo> inputs_, outputs_;
};

class FakeBackend final : public Backend {
 public:
  FakeBackend(std::string_view name, bool reads_files)
      : Backend({.name = name,
                 .option = "fake",
                 .runner_prefix = "fake-runner",
                 .human_name = "Fake",
                 .summary = "a function",
                 .reads_files = reads_files}) {}
  std::string probe(const SessionOptions& o) const override {
    return o.library == "gone" ? "its library is gone." : "";
  }
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions&) const override {
    fake_on_open(source);
    return std::make_unique<FakeSession>(source);
  }
};

inline const FakeBackend fake_backend("fake", /*reads_files=*/false);

inline RunnerChoice fake_choice() {
  return {.backend = &fake_backend, .prefix = "fake-runner", .human_name = "Fake"};
}

/// Restores the fake backend's functions after a test.
class FakeBackendTest : public testing::Test {
 protected:
  void TearDown() override {
    fake_output = [](const std::string&, std::span<const Tensor> feed) { return feed[0]; };
    fake_on_open = [](const ModelSource&) {};
  }
  TemporaryFolder folder;
};

/// The text with date and time of runner names replaced by `T`.
inline std::string without_times(const std::string& text) {
  static const std::regex kTime(R"(-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d)");
  return std::regex_replace(text, kTime, "-T");
}

/// Runs and prints.
inline RunReport run_printed(const RunOptions& options) {
  TextRenderer renderer;
  return run(options, renderer);
}

/// The message of the Error that the body throws; empty when it throws none.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace assay
