// Runners perform inference, under Polygraphy's names. A runner is cheap until it is active; Active activates
// it for a scope.
//
//   OnnxrtRunner runner{SessionFromOnnx(OnnxFromPath("m.onnx"))};
//   Active active(runner);
//   TensorList outputs = runner.infer({{"x", input}});
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/loaders.h"
#include "assay/runtime.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {
namespace poly {

/// Inputs by name.
using FeedDict = std::map<std::string, Tensor>;

/// Base class of runners, including custom ones, which can be compared. Not thread-safe.
class BaseRunner {
 public:
  /// The name is `prefix`, the number of runners of that prefix so far, date and time, as Polygraphy writes
  /// it, unless `name` is given.
  explicit BaseRunner(const std::string& prefix, std::string name = {});
  virtual ~BaseRunner() = default;
  BaseRunner(const BaseRunner&) = delete;
  BaseRunner& operator=(const BaseRunner&) = delete;

  const std::string& name() const { return name_; }
  bool is_active() const { return is_active_; }
  /// Activates the runner. Throws Error; kInvalidArgument when it is already active.
  void activate();
  void deactivate();

  /// Inputs with their types and shapes, as far as they are known. Throws Error (kInvalidArgument) unless
  /// active.
  std::vector<TensorInfo> get_input_metadata();
  /// Outputs in the runner's order. Throws Error (kInvalidArgument) unless active, for an input that is
  /// missing, unknown, or of the wrong type or shape.
  TensorList infer(const FeedDict& feed_dict);
  /// Seconds that the last infer() spent in the backend.
  double last_inference_time() const { return seconds_; }

 protected:
  virtual void activate_impl() {}
  virtual void deactivate_impl() {}
  virtual std::vector<TensorInfo> get_input_metadata_impl() = 0;
  /// `inputs` in the order of get_input_metadata_impl().
  virtual TensorList infer_impl(const TensorList& inputs) = 0;
  /// Called by an infer_impl() that measures its time more precisely.
  void set_inference_time(double seconds) { seconds_ = seconds; }

 private:
  std::string name_;
  bool is_active_ = false;
  double seconds_ = 0;
};

/// Keeps a runner active for its lifetime.
class Active {
 public:
  explicit Active(BaseRunner& runner) : runner_(runner) { runner_.activate(); }
  ~Active() { runner_.deactivate(); }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  BaseRunner& runner_;
};

/// A session of any backend.
class SessionRunner : public BaseRunner {
 public:
  explicit SessionRunner(Lazy<std::shared_ptr<Session>> session, const std::string& prefix = "session-runner",
                         std::string name = {})
      : BaseRunner(prefix, std::move(name)), make_(std::move(session)) {}

 protected:
  void activate_impl() override { session_ = make_(); }
  void deactivate_impl() override { session_ = nullptr; }
  std::vector<TensorInfo> get_input_metadata_impl() override { return session_->inputs(); }
  TensorList infer_impl(const TensorList& inputs) override;

 private:
  Lazy<std::shared_ptr<Session>> make_;
  std::shared_ptr<Session> session_;
};

class OnnxrtRunner : public SessionRunner {
 public:
  explicit OnnxrtRunner(Lazy<std::shared_ptr<Session>> session, std::string name = {})
      : SessionRunner(std::move(session), "onnxrt-runner", std::move(name)) {}
};

/// An engine of this library, in TensorRT's role.
class TrtRunner : public BaseRunner {
 public:
  explicit TrtRunner(Lazy<std::shared_ptr<Engine>> engine, std::string name = {},
                     size_t optimization_profile = 0)
      : BaseRunner("trt-runner", std::move(name)), make_(std::move(engine)), profile_(optimization_profile) {}
  /// Only while active. Throws Error (kInvalidArgument) for a profile that the engine does not have.
  void set_profile(size_t index);
  ExecutionContext& context();

 protected:
  void activate_impl() override;
  void deactivate_impl() override;
  std::vector<TensorInfo> get_input_metadata_impl() override;
  TensorList infer_impl(const TensorList& inputs) override;

 private:
  Lazy<std::shared_ptr<Engine>> make_;
  size_t profile_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<ExecutionContext> context_;
};
using EngineRunner = TrtRunner;

/// The float64 reference.
class RefRunner : public SessionRunner {
 public:
  explicit RefRunner(Lazy<std::shared_ptr<Model>> model, std::string name = {})
      : SessionRunner(SessionFromOnnx(std::move(model), {}, "reference"), "ref-runner", std::move(name)) {}
};

}  // namespace poly
}  // namespace assay
