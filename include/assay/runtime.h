// Running engines: the objects of TensorRT's runtime, with their names and duties. A process may have several
// Runtimes, which share no state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/error.h"
#include "assay/graph.h"
#include "assay/optimization_profile.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

class Engine;
class ExecutionContext;
class PassSet;
class ThreadPool;
namespace engine {
class TacticSet;
class Target;
}  // namespace engine

struct RuntimeOptions {
  /// Threads of a run, including the caller's; 0: as many as processors that the process may use (by its
  /// affinity and control group).
  int threads = 0;
  /// A shared thread pool, in place of `threads`; null: the runtime has its own.
  std::shared_ptr<ThreadPool> pool = {};
  /// Receives warnings, one sentence each, from any thread; null: they go to the library's log.
  std::function<void(const std::string&)> on_warning = {};
  /// The operator set of networks in plans (other models have Model::ops), and the passes and tactics of its
  /// engines; null: the built-in ones.
  std::shared_ptr<const OpSet> ops = {};
  std::shared_ptr<const PassSet> passes = {};
  std::shared_ptr<const engine::TacticSet> tactics = {};
  /// The target of its engines; null: the processor of this process.
  std::shared_ptr<const engine::Target> target = {};
};

/// Owns the resources that engines share: threads and the sink of warnings. Engines keep their runtime alive.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  int threads() const;
  /// The environment of plans: instruction sets and
  /// versions of kernels. A plan of another one is refused.
  std::string environment() const;
  /// The environment of kernel times, for TimingCache.
  std::string timing_environment() const;

  /// Reads a plan file, which stays mapped: weights are used in place.
  /// Throws Error naming the file and its defect: damaged, of another
  /// version or environment, or not a plan. No part of such a file is run.
  std::shared_ptr<Engine> load_engine(const std::string& path) const;
  /// The same from memory, which is copied unless it begins at a multiple of 64 bytes and `owner` keeps it
  /// alive.
  std::shared_ptr<Engine> deserialize_engine(std::string_view plan,
                                             std::shared_ptr<const void> owner = nullptr) const;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// An input or output of an engine.
struct IoTensor {
  std::string name;
  bool is_input = true;
  Type type;  ///< as declared by the network: extents may be open
};

/// A network that is ready to run. May be used from several threads concurrently, each with its own contexts.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& name() const;
  /// Inputs, then outputs, in the network's order.
  const std::vector<IoTensor>& io_tensors() const;
  std::vector<IoTensor> inputs() const;
  std::vector<IoTensor> outputs() const;
  /// Null when there is none of that name.
  const IoTensor* find_tensor(std::string_view name) const;
  /// Empty for a network whose shapes are all known.
  const std::vector<OptimizationProfile>& profiles() const;
  /// Weights may be changed by a Refitter.
  bool is_refittable() const;
  /// Weights were excluded and not yet supplied: nothing can be run.
  bool lacks_weights() const;
  /// Bytes that a context needs for its intermediate values, at the largest shapes prepared so far.
  size_t device_memory_size() const;

  /// A context for one run at a time. Throws Error (kInvalidArgument) when weights are missing.
  std::unique_ptr<ExecutionContext> create_execution_context();

  /// Saves the plan to a file, atomically. Throws Error (kIo).
  void save(const std::string& path) const;
  std::string serialize() const;

  struct State;
  State& state() const { return *state_; }
  explicit Engine(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// Receives times of a run's steps. The names are those of the ONNX nodes that a step implements.
class Profiler {
 public:
  virtual ~Profiler() = default;
  /// Called after a run, once per step, in order.
  virtual void report_layer_time(const std::string& layer, double milliseconds) = 0;
};

class Stream;

/// Thrown by a run that cancel() ended.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorCode::kInvalidArgument, "the run was cancelled") {}
};

/// Runs an engine, one run at a time, with memory of its own. Bindings persist across runs. Not thread-safe:
/// concurrent use from two threads is detected and refused.
class ExecutionContext {
 public:
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;

  const Engine& engine() const;

  /// Selects the profile whose ranges shapes must respect; initially the first. Throws Error
  /// (kInvalidArgument).
  void set_optimization_profile(size_t index);
  size_t optimization_profile() const;

  /// Throws Error (kInvalidArgument) naming the input and the range, when the shape contradicts the network
  /// or is outside the profile.
  void set_input_shape(std::string_view input, const Shape& shape);
  /// The shape that was set, or for an output the inferred one; nothing while it is unknown because an
  /// input's shape is missing, or because it depends on data. Throws Error (kNotFound).
  std::optional<Shape> tensor_shape(std::string_view name);
  bool all_input_shapes_specified() const;

  /// Memory for an input or output, at a multiple of 64 bytes (inputs: of the element's size). It must be
  /// large enough for the tensor whenever execute() is called. Throws Error (kInvalidArgument) for memory
  /// that is null, misaligned or too small for the known shape; kNotFound.
  void set_tensor_address(std::string_view name, void* memory, size_t bytes);
  void set_input_address(std::string_view name, const void* memory, size_t bytes);
  /// Memory for intermediate values, of at least device_memory_size() bytes, in place of the context's own;
  /// null: its own. Must be set again after shapes have changed. Throws Error (kInvalidArgument).
  void set_device_memory(void* memory, size_t bytes);

  /// Runs on bound memory. After a first run with the same shapes it neither allocates nor locks, except
  /// within oneDNN's primitives and in steps without a kernel. Throws Error: kInvalidArgument when an input
  /// or output is not bound, is too small, or another thread is using the context; kInvalidModel when an
  /// operator rejects its input.
  void execute();
  /// Runs on tensors, in the order of Engine::inputs(); the shapes are set from them. Outputs are new
  /// tensors. Throws Error as execute().
  std::vector<Tensor> infer(std::span<const Tensor> inputs);
  /// Receives each output once, in any order, as soon as it is final: the next is computed after it returns,
  /// so that few outputs are alive at a time.
  using OutputSink = std::function<void(size_t output, Tensor value)>;
  /// The same, one output at a time. Memory of released tensors is reused. An exception of the sink ends the
  /// deliveries and is thrown after the run.
  void infer(std::span<const Tensor> inputs, const OutputSink& sink);
  /// Seconds of the last run, without the time in sinks.
  double last_run_seconds() const;
  /// Appends execute() to the stream. Bindings must not change until it is done.
  void enqueue(Stream& stream);

  /// Ends a run in another thread after its
  /// current step: that call throws Cancelled.
  void cancel();

  /// Null: no profiling. The profiler must outlive the context.
  void set_profiler(Profiler* profiler);

  /// Shows intermediate values as they are computed: `on_value` is called during the run, after the step that
  /// computes a value, with the name of an ONNX tensor and a copy of it. The computation stays the same;
  /// values inside a fused step are not shown. An empty function ends it.
  void set_tap(std::function<void(const std::string& name, const Tensor& value)> on_value);

  explicit ExecutionContext(std::shared_ptr<Engine> engine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Work that was recorded while a stream was captured: runs of contexts on bound memory, which are repeated
/// without further checks, as a CUDA graph.
class Recording {
 public:
  /// Appends all of it to a stream. Its contexts and memory must still exist.
  void launch(Stream& stream) const;
  size_t size() const { return work_.size(); }

 private:
  friend class Stream;
  std::vector<std::function<void()>> work_;
};

/// A queue of work that is done in order, asynchronously to the caller.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Appends work. If it throws, later work is skipped and the next synchronize() throws.
  void enqueue(std::function<void()> work);
  /// Waits for all work.
  void synchronize();
  /// True when no work is left.
  bool query() const;

  /// Records work instead of doing it, until end_capture() returns it. Throws Error (kInvalidArgument) when a
  /// capture is already active, or none is.
  void begin_capture();
  Recording end_capture();

 private:
  friend class Event;
  struct State;
  std::unique_ptr<State> state_;
};

/// A marker in streams.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Records the event: it is complete when the stream reaches it.
  void record(Stream& stream);
  /// The stream continues when this is complete.
  void wait(Stream& stream) const;
  /// The caller continues when this is complete.
  void synchronize() const;
  bool query() const;
  /// Time between the completion of two events. Throws Error (kInvalidArgument) when one is not complete.
  static double elapsed_milliseconds(const Event& first, const Event& last);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Replaces weights of a refittable engine.
class Refitter {
 public:
  /// Throws Error (kInvalidArgument) unless the engine is refittable.
  explicit Refitter(std::shared_ptr<Engine> engine);
  ~Refitter();

  /// Names of all weights: the network's initializers.
  std::vector<std::string> all_weights() const;
  /// Names of weights that the engine lacks and that have not been set.
  std::vector<std::string> missing_weights() const;
  /// Throws Error (kNotFound; kInvalidArgument when type or shape differ).
  void set_weights(std::string_view name, const Tensor& weights);
  /// Applies the weights to the engine: contexts use them from
  /// their next run on. Throws Error (kInvalidArgument) naming
  /// weights that are still missing, and then changes nothing.
  void refit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Describes the steps of an engine.
class EngineInspector {
 public:
  explicit EngineInspector(std::shared_ptr<const Engine> engine);
  enum class Format : uint8_t { kOneLine, kJson };
  size_t layer_count() const;
  /// A step: its name, tactic, inputs and outputs with their formats, the ONNX nodes it implements.
  std::string layer_information(size_t layer, Format format) const;
  std::string engine_information(Format format) const;

 private:
  std::shared_ptr<const Engine> engine_;
};

}  // namespace assay
