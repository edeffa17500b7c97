// A backend in a run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "base/crash_report.h"
#include "run/loader_cache.h"
#include "run/model_loader.h"
#include "run/observer.h"
#include "run/results.h"

namespace assay {

/// The backend and names of a runner flag.
struct RunnerChoice {
  const Backend* backend = nullptr;
  std::string prefix;                         ///< of the runner's name: onnxrt-runner
  std::string human_name;                     ///< ONNX-Runtime
  std::shared_ptr<const Backend> owner = {};  ///< owner of a backend that is not in a set
};

/// Sessions between runners: a runner that differs from an earlier one only in its name shares its session
/// instead of building another. Sessions that draw random numbers are not shared, since a second run would
/// draw others.
class SessionPool {
 public:
  void expect(const Backend& backend) { ++expected_[&backend]; }
  /// The session for an expected runner; null if none can be shared.
  std::shared_ptr<Session> take(const Backend& backend);
  /// Keeps the session as long as a runner that may share it is expected.
  void put(const Backend& backend, const Model& model, std::shared_ptr<Session> session);

 private:
  std::map<const Backend*, int> expected_;
  std::map<const Backend*, std::shared_ptr<Session>> kept_;
};

/// A backend, the name it has in this run, and its session while it is active.
class Runner {
 public:
  /// `name` is unique within the run.
  Runner(RunnerChoice choice, SessionOptions options, std::string name, std::shared_ptr<SessionPool> pool)
      : choice_(std::move(choice)),
        options_(std::move(options)),
        name_(std::move(name)),
        pool_(std::move(pool)) {
    if (!choice_.backend->builds_engines) pool_->expect(*choice_.backend);
  }

  const std::string& name() const { return name_; }
  const Backend& backend() const { return *choice_.backend; }
  std::string_view note() const { return choice_.backend->note; }

  /// Opens the session. Throws Error when the backend is missing or cannot run the model.
  void activate(ModelLoader& loader);
  void deactivate();

  /// Only while active.
  const std::vector<TensorInfo>& inputs() const { return session_->inputs(); }
  const std::vector<TensorInfo>& outputs() const { return session_->outputs(); }
  /// Runs once; `feed` in the order of inputs(). Throws Error when a tensor has another type or shape than
  /// its input, or when the backend fails. Returns the seconds that the backend spent.
  double infer(std::span<const Tensor> feed, const Session::Sink& sink);

 private:
  CrashNote crash_note(std::string_view did) const;

  RunnerChoice choice_;
  SessionOptions options_;
  std::string name_;
  std::string path_;  // of the model
  std::shared_ptr<SessionPool> pool_;
  std::shared_ptr<const Model> model_;  // of the session
  std::shared_ptr<Session> session_;
};

/// Generates runner names as Polygraphy does: prefix, count within the prefix, date and time, as in
/// onnxrt-runner-N0-11/20/26-08:02:18.
std::vector<Runner> make_runners(const std::vector<RunnerChoice>& choices, const SessionOptions& options);

/// Receives what a runner gives, as soon as it is there.
class InferenceObserver {
 public:
  virtual ~InferenceObserver() = default;
  /// Once, before anything else.
  virtual void on_active(const std::vector<TensorInfo>& outputs) = 0;
  /// `output` counts in the list of on_active(); the value may be a container.
  virtual void on_output(size_t output, Tensor value) = 0;
  virtual void on_iteration_end(double seconds) = 0;
};

/// Keeps the session open for its lifetime.
class ActiveRunner {
 public:
  ActiveRunner(Runner& runner, ModelLoader& loader) : runner_(runner) { runner_.activate(loader); }
  ~ActiveRunner() { runner_.deactivate(); }
  ActiveRunner(const ActiveRunner&) = delete;
  ActiveRunner& operator=(const ActiveRunner&) = delete;

 private:
  Runner& runner_;
};

/// Runs once; passes each output and the end of the iteration to `receiver`, and all events to `observer`.
/// Returns the seconds that the backend spent.
double run_iteration(Runner& runner, std::span<const Tensor> feed, InferenceObserver& receiver,
                     RunObserver& observer);

/// Activates the runner and feeds it every iteration after `warm_up` untimed runs. `cache` gets the runner's
/// inputs. Throws Error.
void execute_runner(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                    InferenceObserver& receiver, RunObserver& observer);

}  // namespace assay
