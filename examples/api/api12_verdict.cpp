// Judges sessions of one's own against the float64 reference: the engine, and one that makes an error on
// purpose.
#include <assay/arbiter.h>
#include <assay/backend_set.h>
#include <assay/io.h>
#include <assay/loaders.h>

#include <cstdio>

#include "models.h"

namespace {

using namespace assay;

/// A session's results, and a thousandth on one element of one of them.
class Careless : public Session {
 public:
  Careless(std::unique_ptr<Session> session, std::string output)
      : session_(std::move(session)), output_(std::move(output)) {}
  const std::vector<TensorInfo>& inputs() const override { return session_->inputs(); }
  const std::vector<TensorInfo>& outputs() const override { return session_->outputs(); }
  double last_run_seconds() const override { return session_->last_run_seconds(); }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    session_->run(feed, [&](size_t i, Tensor t) {
      if (outputs()[i].name == output_) t.mutable_data<float>()[0] += 1e-3F;
      sink(i, std::move(t));
    });
  }

 private:
  std::unique_ptr<Session> session_;
  std::string output_;
};

JudgedResults results_of(const std::string& name, Session& session, const Tensor& x) {
  JudgedResults results{.runner = name, .outputs = {}};
  session.run({&x, 1}, [&](size_t i, Tensor t) {
    results.outputs.push_back({session.outputs()[i].name, std::move(t)});
  });
  return results;
}

}  // namespace

int main() {
  // Every tensor is an output, so that the node is found that makes an error.
  const std::shared_ptr<const Model> model =
      poly::ModifyOutputs(poly::OnnxFromPath(dynamic_model()), {.mark_all = true})();
  const Backend& engine = built_in_backends().get("engine");
  const std::unique_ptr<Session> good = engine.open({model, {}}, {});
  const std::string product = model->graph->nodes()[0]->output(0)->name();
  Careless bad(engine.open({model, {}}, {}), product);

  Tensor x = Tensor::zeros(DType::kFloat32, Shape{2, 4});
  for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = 0.1F * static_cast<float>(i);
  const std::vector<JudgedResults> results = {results_of("good", *good, x), results_of("bad", bad, x)};
  const Arbitration verdict = arbitrate(model, {{"x", x}}, results);

  bool found = false;
  for (const ArbiterVerdict& v : verdict.outputs) {
    std::printf("%s %s: %s, %g away from the exact result\n", v.runner.c_str(), v.output.c_str(),
                std::string(verdict_name(v.verdict)).c_str(), v.max_error);
    if (v.verdict != Verdict::kWrong) continue;
    if (v.runner != "bad" || v.output != product) return 1;
    found = true;
  }
  return found && !verdict.all_right() ? 0 : 1;
}
