// A user's program as it uses the library: it builds, runs, compares, and meets errors of every
// class. Nothing of that may reach standard output or standard error. With the argument `shown` it asks for
// the log first; with `sink` it takes the messages itself. It says by its exit status whether everything came
// out as it should.
#include <assay/backend_set.h>
#include <assay/comparator.h>
#include <assay/edit.h>
#include <assay/error.h>
#include <assay/io.h>
#include <assay/loaders.h>
#include <assay/log.h>
#include <assay/run.h>
#include <assay/runners.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

using namespace assay;
using namespace assay::poly;

namespace {

/// y = softmax(x w), with any number of rows; `rows` of w.
void save_network(const std::string& path, int64_t rows) {
  Model model;
  model.opsets = {{"", 17}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(4)}));
  Tensor w = Tensor::zeros(DType::kFloat32, Shape{rows, 3});
  for (int64_t i = 0; i < w.numel(); ++i) w.mutable_data<float>()[i] = static_cast<float>(i % 5) - 2;
  Value* product = layer(g, "MatMul", {x, w}, {"product"})[0];
  g.outputs = layer(g, "Softmax", {product}, {"y"});
  g.outputs[0]->rename("y");
  g.outputs[0]->type = Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(3)});
  save_model(model, path);
}

/// The engine, with an error in every element.
class Wrong : public Session {
 public:
  explicit Wrong(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  const std::vector<TensorInfo>& inputs() const override { return session_->inputs(); }
  const std::vector<TensorInfo>& outputs() const override { return session_->outputs(); }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    session_->run(feed, [&](size_t output, Tensor tensor) {
      Tensor wrong = Tensor::zeros(DType::kFloat32, tensor.shape());
      for (int64_t i = 0; i < wrong.numel(); ++i)
        wrong.mutable_data<float>()[i] = tensor.span<float>()[static_cast<size_t>(i)] + 0.25F;
      sink(output, wrong);
    });
  }
  double last_run_seconds() const override { return session_->last_run_seconds(); }

 private:
  std::unique_ptr<Session> session_;
};

int failures = 0;

/// Says what is wrong in a file: nothing else may be written to.
void report(unsigned line, const std::string& text) {
  ++failures;
  std::ofstream("failures.txt", std::ios::app) << "line " << line << ": " << text << '\n';
}

void expect(bool holds, std::source_location where = std::source_location::current()) {
  if (!holds) report(where.line(), "it does not hold");
}

/// The error that body throws has this code, and this key of a remedy.
void expect_error(ErrorCode code, std::string_view key, const std::function<void()>& body,
                  std::source_location where = std::source_location::current()) {
  try {
    body();
    report(where.line(), "nothing was thrown");
  } catch (const Error& e) {
    const std::string_view text = e.what();
    if (e.code() != code || e.remedy_key() != key || text.find("--") != text.npos)
      report(where.line(),
             std::string(error_code_name(e.code())) + ", '" + e.remedy_key() + "': " + e.what());
  }
}

RunSettings settings_of(const std::string& path) {
  RunSettings run;
  run.model.path = path;
  run.data.iterations = 2;
  run.runners = {{.backend = "engine"}, {.backend = "reference"}};
  return run;
}

void do_everything() {
  save_network("network.onnx", 4);
  save_network("misfit.onnx", 5);
  // Builds and runs.
  const OnnxFromPath load("network.onnx");
  TrtRunner engine{EngineFromNetwork(load)};
  RefRunner reference(load);
  const RunResults results = Comparator::run({&engine, &reference}, {.save_inputs_path = "inputs.json"});
  expect(bool(Comparator::compare_accuracy(results, {.logs = true})));
  // Compares and judges: once right, once wrong, and in a process of its own.
  RunSettings right = settings_of("network.onnx");
  right.save.outputs = "outputs.json";
  right.validate = true;
  expect(poly::run(right).outcome == RunSummary::Outcome::kPassed);
  RunSettings wrong = settings_of("network.onnx");
  wrong.runners.push_back({.open =
                               [](const ModelSource& source, const SessionOptions& options) {
                                 return std::make_unique<Wrong>(
                                     built_in_backends().get("engine").open(source, options));
                               },
                           .name = "wrong"});
  const RunSummary summary = poly::run(wrong);
  expect(summary.outcome == RunSummary::Outcome::kFailed && summary.verdicts.contains("WRONG"));
  RunSettings apart = settings_of("network.onnx");
  apart.sequential_runners = apart.use_subprocess = true;
  apart.warm_up = 1;
  expect(poly::run(apart).outcome == RunSummary::Outcome::kPassed);
  // Fails, by each class of errors.
  expect_error(ErrorCode::kNotFound, "", [] { (void)load_model("nowhere.onnx"); });
  expect_error(ErrorCode::kInvalidModel, "", [] {
    std::ofstream("broken.onnx") << "\x08\x07\x3a\xff\xff\xff";
    (void)load_model("broken.onnx");
  });
  expect_error(ErrorCode::kInvalidModel, "", [] { (void)poly::run(settings_of("misfit.onnx")); });
  expect_error(ErrorCode::kInvalidArgument, "", [] {
    RunSettings run;
    run.verdict.judge = true;
    (void)poly::run(run);
  });
  expect_error(ErrorCode::kIo, "", [] {
    RunSettings run = settings_of("network.onnx");
    run.save.outputs = "/proc/nowhere/outputs.json";
    (void)poly::run(run);
  });
  expect_error(ErrorCode::kResource, "memory-limit", [] {
    RunSettings run = settings_of("network.onnx");
    run.memory_limit = 1 << 20;
    run.data.shapes = {{"x", Dims{Dim(1'000'000), Dim(4)}}};
    (void)poly::run(run);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  static std::atomic<int> messages = 0;
  if (mode == "shown") show_log(-20);
  if (mode == "sink") set_log_sink([](int, const std::string&) { ++messages; }, -20);
  do_everything();
  if (mode == "sink") expect(messages > 100);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
