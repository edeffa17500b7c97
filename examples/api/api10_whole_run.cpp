// A whole run, as `assay run --gen-script` writes it, with parts of the program's own: data, a change of the
// model, a runner, post-processing and a comparison. What it found comes back as numbers.
#include <assay/backend_set.h>
#include <assay/run.h>

#include <cstdio>

#include "models.h"

using namespace assay;
using namespace assay::poly;

/// The engine, with an error in every element.
class Wrong : public Session {
 public:
  Wrong(std::unique_ptr<Session> session, float error) : session_(std::move(session)), error_(error) {}
  const std::vector<TensorInfo>& inputs() const override { return session_->inputs(); }
  const std::vector<TensorInfo>& outputs() const override { return session_->outputs(); }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    session_->run(feed, [&](size_t output, Tensor tensor) {
      Tensor wrong = Tensor::zeros(DType::kFloat32, tensor.shape());
      for (int64_t i = 0; i < wrong.numel(); ++i)
        wrong.mutable_data<float>()[i] = tensor.span<float>()[static_cast<size_t>(i)] + error_;
      sink(output, wrong);
    });
  }
  double last_run_seconds() const override { return session_->last_run_seconds(); }

 private:
  std::unique_ptr<Session> session_;
  float error_;
};

/// Runs the model on the reference and on an engine with such an error.
RunSummary compare(float error, int& edited, int& compared) {
  RunSettings run;
  run.model.path = dynamic_model();
  run.model.edits = {[&](Network& network) {
    network->graph->name = "mine";
    ++edited;
  }};
  run.data.source = [next = 0](const std::vector<TensorInfo>& inputs) mutable -> std::optional<FeedDict> {
    if (next == 3) return std::nullopt;
    Tensor x = Tensor::zeros(DType::kFloat32, Shape{2, 4});
    x.mutable_data<float>()[next] = static_cast<float>(next + 1);
    ++next;
    return FeedDict{{inputs.front().name, x}};
  };
  run.runners = {{.backend = "reference"},
                 {.open =
                      [error](const ModelSource& source, const SessionOptions& options) {
                        return std::make_unique<Wrong>(
                            built_in_backends().get("engine").open(source, options), error);
                      },
                  .name = "wrong"}};
  run.postprocess = PostprocessFunc::custom([](poly::IterationResult result) {
    result.outputs.resize(1);
    return result;
  });
  run.compare_funcs = {
      CompareFunc::custom("same shape", [&](const std::string&, const Tensor& a, const Tensor& b) {
        ++compared;
        return a.shape() == b.shape();
      })};
  return poly::run(run);
}

int main() {
  int edited = 0, compared = 0;
  const RunSummary right = compare(0, edited, compared), wrong = compare(0.25F, edited, compared);
  for (const RunSummary& s : {right, wrong})
    for (const auto& [verdict, count] : s.verdicts)
      std::printf("%s: %lld\n", verdict.c_str(), static_cast<long long>(count));
  const bool as_expected = right.outcome == RunSummary::Outcome::kPassed &&
                           wrong.outcome == RunSummary::Outcome::kFailed && right.iterations == 3 &&
                           wrong.verdicts.contains("WRONG") && !right.verdicts.contains("WRONG") &&
                           bool(wrong.accuracy) && edited > 0 && compared == 6;
  return as_expected ? 0 : 1;
}
