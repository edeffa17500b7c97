#include "run/live_stream.h"

#include "base/diagnostics.h"
#include "base/exception_text.h"
#include "base/expected_error.h"
#include "base/time_trace.h"
#include "run/coerce_inputs.h"

namespace assay {
namespace {

class LiveResults final : public ResultStream {
 public:
  explicit LiveResults(LiveStream& stream) : stream_(stream) {}
  std::optional<std::vector<IterationResult>> next() override { return stream_.next(); }

 private:
  LiveStream& stream_;
};

/// Failures of loaders are reported in upstream's format.
template <typename Body>
void as_critical(Body&& body) {
  try {
    body();
  } catch (const ExpectedError&) {
    throw;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInvalidArgument && e.code() != ErrorCode::kResource) throw;
    throw ExpectedError(e);
  }
}

}  // namespace

LiveStream::LiveStream(const RunOptions& options, ModelLoader& loader, std::shared_ptr<DataSource> source,
                       TensorStore& store, RunObserver& observer)
    : options_(options),
      source_(std::move(source)),
      store_(store),
      observer_(observer),
      runners_(make_runners(options.runners, options.session)) {
  for (Runner& runner : runners_) {
    observer_.on_runner_begin(runner.name());
    {
      const trace::Span span(trace::Kind::kBuild, [&] { return "prepare " + runner.name(); });
      active_.push_back(std::make_unique<ActiveRunner>(runner, loader));
    }
    require_tensors(runner.inputs());
  }
  as_critical([&] {
    if (!options.save_inputs.empty()) inputs_saver_.emplace(options.save_inputs, observer_);
    if (!options.save_outputs.empty()) outputs_saver_.emplace(options.save_outputs, observer_);
    if (!options.save_input_blobs.empty()) blob_saver_.emplace(options.save_input_blobs, observer_);
  });
  source_->begin(runners_.front().inputs());
}

std::optional<std::vector<IterationResult>> LiveStream::next() {
  std::optional<TensorList> next = source_->next();
  if (!next) {
    if (iteration_ == 0) diag::warning("Data loader did not yield any input data.");
    return std::nullopt;
  }
  data_ = std::move(next);
  std::vector<SeenTensor> seen;
  std::vector<Tensor> values;
  for (const NamedTensor& t : *data_) {
    seen.push_back({t.name, t.tensor.dtype(), t.tensor.shape()});
    values.push_back(t.tensor);
  }
  observer_.on_inputs({"", iteration_, seen, values});
  if (inputs_saver_) inputs_saver_->add(iteration_, *data_);
  if (blob_saver_) as_critical([&] { blob_saver_->add(iteration_, *data_); });
  std::vector<IterationResult> results;
  std::exception_ptr failure;
  for (Runner& runner : runners_) {
    OutputRecorder recorder(runner.name(), store_);
    try {
      recorder.on_active(runner.outputs());
      run_iteration(runner, coerce_inputs(*data_, runner.inputs()), recorder, observer_);
      results.push_back(std::move(recorder.iterations.front()));
    } catch (const Error& e) {
      if (failure == nullptr)
        failure = std::current_exception();
      else
        diag::error("{}", e.what());
    }
  }
  // A file has as many iterations of each of its runners, or none.
  if (outputs_saver_ && !results.empty() && (failure == nullptr || iteration_ == 0)) {
    const std::string fingerprint = fingerprint_of(*data_);
    for (IterationResult& r : results) r.inputs = fingerprint;
    outputs_saver_->add(iteration_, results);
  }
  if (failure != nullptr) {
    survivors_ = std::move(results);
    std::rethrow_exception(failure);
  }
  ++iteration_;
  return results;
}

std::unique_ptr<ResultStream> LiveStream::results() { return std::make_unique<LiveResults>(*this); }

void LiveStream::finish() {
  if (inputs_saver_) inputs_saver_->finish();
  if (outputs_saver_) outputs_saver_->finish();
}

void LiveStream::finish_quietly() noexcept {
  try {
    finish();
  } catch (const std::exception& e) {
    diag::warning("What was complete could not be saved: {}", text_of(e));
  }
}

void save_sequential_results(const RunOptions& options, const LoaderCache& cache,
                             const std::vector<std::vector<IterationResult>>& runs, RunObserver& observer) {
  as_critical([&] {
    if (!options.save_inputs.empty()) {
      InputsSaver saver(options.save_inputs, observer);
      for (int64_t i = 0; i < cache.size(); ++i) saver.add(i, cache.data(i));
      saver.finish();
    }
    if (!options.save_input_blobs.empty()) {
      BlobSaver saver(options.save_input_blobs, observer);
      for (int64_t i = 0; i < cache.size(); ++i) saver.add(i, cache.data(i));
    }
    if (options.save_outputs.empty()) return;
    OutputsSaver saver(options.save_outputs, observer);
    for (int64_t i = 0; i < cache.size(); ++i) {
      std::vector<IterationResult> results;
      for (const auto& run : runs) results.push_back(run.at(static_cast<size_t>(i)));
      const std::string fingerprint = fingerprint_of(cache.data(i));
      for (IterationResult& r : results) r.inputs = fingerprint;
      saver.add(i, results);
    }
    saver.finish();
  });
}

InputData load_all_inputs_aloud(const std::vector<std::string>& paths) {
  InputData data;
  for (const std::string& path : paths)
    for (const std::string& file : iteration_files(path)) {
      InputData part = load_inputs_aloud(file);
      data.insert(data.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
  return data;
}

RunResults load_all_results_aloud(const std::string& path) {
  RunResults all;
  for (const std::string& file : iteration_files(path)) {
    RunResults part = load_results_aloud(file);
    for (size_t i = 0; i < part.runners.size(); ++i) {
      auto& [name, iterations] = part.runners[i];
      if (i == all.runners.size()) all.runners.push_back({name, {}});
      auto& to = all.runners[i].second;
      to.insert(to.end(), std::make_move_iterator(iterations.begin()),
                std::make_move_iterator(iterations.end()));
    }
  }
  return all;
}

}  // namespace assay
