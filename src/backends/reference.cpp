// --ref: the reference interpreter as a backend.
#include "reference/interpreter.h"

#include <unordered_map>

#include "backends/backend_list.h"
#include "backends/onnxrt_nodes.h"
#include "backends/session_info.h"
#include "base/parallel.h"
#include "base/stopwatch.h"
#include "base/time_trace.h"

namespace assay::backend_reference {
namespace {

class ReferenceSession final : public Session {
 public:
  ReferenceSession(const ModelSource& source, const SessionOptions& options)
      : model_(source.model),
        pool_(pool_of(options.threads)),
        inputs_(tensor_infos(model_->graph->inputs)),
        outputs_(tensor_infos(model_->graph->outputs)),
        interpreter_(model_, {.precision = options.reference_precision, .foreign = onnxrt_nodes(model_)}) {
    for (size_t i = 0; i < outputs_.size(); ++i) index_[model_->graph->outputs[i]].push_back(i);
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    const PoolScope scope(pool_);
    const trace::Span span(trace::Kind::kRun, model_->graph->name.empty() ? "run" : model_->graph->name,
                           "the reference");
    Stopwatch watch;
    interpreter_.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      const DType declared = leaf_dtype(v.type);
      const Tensor stored = rounded(lanes[0], is_float(declared) ? declared : DType::kFloat32);
      watch.pause();
      for (const size_t i : index_.at(&v)) sink(i, stored);
      watch.resume();
    });
    watch.pause();
    seconds_ = watch.seconds();
  }

 private:
  std::shared_ptr<const Model> model_;
  std::shared_ptr<ThreadPool> pool_;
  std::vector<TensorInfo> inputs_, outputs_;
  Interpreter interpreter_;
  std::unordered_map<const Value*, std::vector<size_t>> index_;
  double seconds_ = 0;
};

constexpr BackendVariant kVariants[] = {
    {.name = "stored",
     .summary = "the reference interpreter, every result rounded to its stored type",
     .apply = [](SessionOptions& o) { o.reference_precision = ReferencePrecision::kStored; }}};

class ReferenceBackend final : public Backend {
 public:
  using Backend::Backend;
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    return std::make_unique<ReferenceSession>(source, options);
  }
};

constinit const ReferenceBackend kBackend({
    .name = "reference",
    .option = "ref",
    .runner_prefix = "ref-runner",
    .human_name = "Reference",
    .summary = "the reference interpreter: every floating-point operation in float64",
    .is_oracle = true,
    .is_own = true,
    .variants = kVariants,
});

}  // namespace

constinit const Backend& def = kBackend;

}  // namespace assay::backend_reference
