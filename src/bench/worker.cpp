#include "bench/worker.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace assay::bench {
namespace {

bool is_bindable(const IoTensor& t) { return t.type.is_tensor() && bit_width(t.type.dtype) != 0; }

class EngineWorker final : public Worker {
 public:
  EngineWorker(const std::shared_ptr<Engine>& engine, size_t profile, std::span<const Tensor> feed,
               bool is_recorded, Profiler* profiler)
      : engine_(engine), context_(engine->create_execution_context()), feed_(feed.begin(), feed.end()) {
    context_->set_optimization_profile(profile);
    outputs_ = context_->infer(feed_);
    const auto& io = engine_->io_tensors();
    is_bound_ = std::all_of(io.begin(), io.end(), is_bindable);
    if (is_bound_) bind();
    context_->set_profiler(profiler);
    if (!is_recorded || !is_bound_) return;
    stream_ = std::make_unique<Stream>();
    stream_->begin_capture();
    context_->enqueue(*stream_);
    recording_ = stream_->end_capture();
  }

  RunTimes run() override {
    RunTimes t;
    if (recording_) {
      t.start = now();
      stream_->enqueue([&] { t.compute_start = now(); });
      recording_->launch(*stream_);
      stream_->enqueue([&] { t.compute_end = now(); });
      t.enqueued = now();
      stream_->synchronize();
      t.end = now();
      return t;
    }
    t.start = t.compute_start = now();
    if (is_bound_)
      context_->execute();
    else
      outputs_ = context_->infer(feed_);
    t.end = t.compute_end = t.enqueued = now();
    return t;
  }

  TensorList outputs() const override {
    TensorList list;
    const std::vector<IoTensor> described = engine_->outputs();
    for (size_t i = 0; i < outputs_.size(); ++i) list.push_back({described[i].name, outputs_[i]});
    return list;
  }

 private:
  /// The same inputs give the same output shapes,
  /// so the outputs of the first run are reused.
  void bind() {
    const std::vector<IoTensor> inputs = engine_->inputs(), outputs = engine_->outputs();
    // Bound memory may not be null, also where a tensor has no elements.
    for (size_t i = 0; i < feed_.size(); ++i)
      context_->set_input_address(inputs[i].name, feed_[i].nbytes() > 0 ? feed_[i].data() : nothing_.data(),
                                  feed_[i].nbytes());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      // A tensor of its own: what a run computes may be a view of an input.
      outputs_[i] = Tensor::allocate(outputs_[i].dtype(), outputs_[i].shape());
      context_->set_tensor_address(
          outputs[i].name, outputs_[i].nbytes() > 0 ? outputs_[i].mutable_data() : nothing_.mutable_data(),
          outputs_[i].nbytes());
    }
  }

  std::shared_ptr<Engine> engine_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<Tensor> feed_, outputs_;
  Tensor nothing_ = Tensor::zeros(DType::kUInt8, {64});
  bool is_bound_ = false;
  std::unique_ptr<Stream> stream_;
  std::optional<Recording> recording_;
};

class SessionWorker final : public Worker {
 public:
  SessionWorker(Session& session, std::span<const Tensor> feed)
      : session_(session), feed_(feed.begin(), feed.end()), outputs_(session.outputs().size()) {
    run();
  }

  RunTimes run() override {
    RunTimes t;
    t.start = now();
    session_.run(feed_, [&](size_t i, Tensor value) { outputs_[i] = std::move(value); });
    t.end = t.enqueued = t.compute_end = now();
    t.compute_start = t.compute_end - std::min(session_.last_run_seconds(), t.end - t.start);
    return t;
  }

  TensorList outputs() const override {
    TensorList list;
    for (size_t i = 0; i < outputs_.size(); ++i) list.push_back({session_.outputs()[i].name, outputs_[i]});
    return list;
  }

 private:
  Session& session_;
  std::vector<Tensor> feed_, outputs_;
};

}  // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::unique_ptr<Worker> make_worker(const std::shared_ptr<Engine>& engine, size_t profile,
                                    std::span<const Tensor> feed, bool is_recorded, Profiler* profiler) {
  return std::make_unique<EngineWorker>(engine, profile, feed, is_recorded, profiler);
}

std::unique_ptr<Worker> make_worker(Session& session, std::span<const Tensor> feed) {
  return std::make_unique<SessionWorker>(session, feed);
}

}  // namespace assay::bench
