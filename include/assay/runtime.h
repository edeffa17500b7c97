// Running engines: the objects of TensorRT's runtime, with their names and duties. Several Runtimes live side
// by side in a process; none of them has anything in common with another.
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
  /// Threads of a run, the caller's included; 0: as many as the process may use processors (its affinity and
  /// its control group).
  int threads = 0;
  /// Threads to share with others, in the place of `threads`; null: the runtime has its own.
  std::shared_ptr<ThreadPool> pool = {};
  /// Receives warnings, one sentence each, from any thread; null: they go to assay's log.
  std::function<void(const std::string&)> on_warning = {};
  /// The operators that networks in plans may have (Model::ops is what others may), the passes and the
  /// tactics that engines are built with and run by; null: those of this build.
  std::shared_ptr<const OpSet> ops = {};
  std::shared_ptr<const PassSet> passes = {};
  std::shared_ptr<const engine::TacticSet> tactics = {};
  /// What engines are built for and run on; null: the processor of this process.
  std::shared_ptr<const engine::Target> target = {};
};

/// Owns what engines run on: threads and the way to the user's log. Engines keep theirs alive.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  int threads() const;
  /// What plans depend on: instruction sets and versions of kernels. A plan of another environment is
  /// refused.
  std::string environment() const;
  /// What times of kernels depend on: for TimingCache.
  std::string timing_environment() const;

  /// Reads a plan file, which stays mapped: weights are used where they lie. Throws Error naming the file and
  /// what is wrong with it: damaged, of another version or environment, no plan at all. Nothing of such a
  /// file is run.
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
  Type type;  ///< as the network declares it: extents may be open
};

/// A network made ready to run. May be used from many threads at once, each with contexts of its own.
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
  /// Weights have been left out and not been given yet: nothing can be run.
  bool lacks_weights() const;
  /// Bytes that a context needs for its intermediate values, at the largest shapes that were prepared so far.
  size_t device_memory_size() const;

  /// For one run at a time. Throws Error (kInvalidArgument) when weights are missing.
  std::unique_ptr<ExecutionContext> create_execution_context();

  /// The plan as a file; appears whole or not at all. Throws Error (kIo).
  void save(const std::string& path) const;
  std::string serialize() const;

  struct State;
  State& state() const { return *state_; }
  explicit Engine(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// Times of a run's steps. The names are those of the ONNX nodes that a step stands for.
class Profiler {
 public:
  virtual ~Profiler() = default;
  /// Called after a run, once for each step in order.
  virtual void report_layer_time(const std::string& layer, double milliseconds) = 0;
};

class Stream;

/// What a run that was ended by cancel() throws.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorCode::kInvalidArgument, "the run was cancelled") {}
};

/// Runs an engine, one run at a time, with memory of its own. What is bound stays bound. Not thread-safe:
/// using it from two threads at once is found out and refused.
class ExecutionContext {
 public:
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;

  const Engine& engine() const;

  /// Shapes must lie in the range of this profile from now on; the first one to begin with. Throws Error
  /// (kInvalidArgument).
  void set_optimization_profile(size_t index);
  size_t optimization_profile() const;

  /// Throws Error (kInvalidArgument) naming the input and the range, when the shape contradicts the network
  /// or lies outside the profile.
  void set_input_shape(std::string_view input, const Shape& shape);
  /// The shape that is set, or for an output the one that follows from the inputs'; nothing as long as it is
  /// not known: an input's shape is missing, or only the run can tell. Throws Error (kNotFound).
  std::optional<Shape> tensor_shape(std::string_view name);
  bool all_input_shapes_specified() const;

  /// Memory for an input or output, at a multiple of 64 bytes (inputs: of the element's size). It must hold
  /// the tensor's bytes whenever execute() is called. Throws Error (kInvalidArgument) for memory that is
  /// null, misaligned or too small for what is known; kNotFound.
  void set_tensor_address(std::string_view name, void* memory, size_t bytes);
  void set_input_address(std::string_view name, const void* memory, size_t bytes);
  /// Memory for intermediate values, of device_memory_size() bytes at least, instead of the context's own;
  /// null: its own again. Must be set again after shapes have changed. Throws Error (kInvalidArgument).
  void set_device_memory(void* memory, size_t bytes);

  /// Runs on bound memory. Once it ran for these shapes, it neither allocates nor locks, but for what oneDNN
  /// does in its primitives and for steps that have no kernel. Throws Error: kInvalidArgument when an input
  /// or output is not bound, is too small, or another thread is using the context; kInvalidModel when an
  /// operator refuses what it is given.
  void execute();
  /// Runs on tensors, in the order of Engine::inputs(); the shapes are set from them. Outputs are new
  /// tensors. Throws Error as execute().
  std::vector<Tensor> infer(std::span<const Tensor> inputs);
  /// Receives each output once, in any order, as soon as it is final: the next is computed after it returns,
  /// so few outputs need to be alive.
  using OutputSink = std::function<void(size_t output, Tensor value)>;
  /// The same, one output at a time. Memory of tensors that nobody holds any more is used again. What the
  /// sink throws ends the deliveries and is thrown after the run.
  void infer(std::span<const Tensor> inputs, const OutputSink& sink);
  /// Seconds of the last run, without what sinks took.
  double last_run_seconds() const;
  /// execute() behind what the stream does already. What is bound must not change until it is done.
  void enqueue(Stream& stream);

  /// Ends a run that another thread is carrying out, after the step that it is at: that call throws
  /// Cancelled.
  void cancel();

  /// Null: no more times. The profiler must outlive the context.
  void set_profiler(Profiler* profiler);

  /// Shows intermediate values as they are computed: `on_value` is called in the run, after the step that
  /// makes a value, with the name of an ONNX tensor and a copy of it. What is computed stays the same. Values
  /// inside what runs as one are not shown. An empty function ends it.
  void set_tap(std::function<void(const std::string& name, const Tensor& value)> on_value);

  explicit ExecutionContext(std::shared_ptr<Engine> engine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Work that was noted while a stream was captured: runs of contexts on bound memory, to be repeated without
/// asking anything again. As a CUDA graph.
class Recording {
 public:
  /// Appends all of it to a stream. What it uses (contexts, memory) must still be there.
  void launch(Stream& stream) const;
  size_t size() const { return work_.size(); }

 private:
  friend class Stream;
  std::vector<std::function<void()>> work_;
};

/// Work that is done in order, beside the caller.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Appends work. What it throws, the next synchronize() throws; work behind it is left out.
  void enqueue(std::function<void()> work);
  /// Waits for all work.
  void synchronize();
  /// True when there is none left.
  bool query() const;

  /// From now on work is noted instead of done, until end_capture() hands it over. Throws Error
  /// (kInvalidArgument) when one is begun already, or none.
  void begin_capture();
  Recording end_capture();

 private:
  friend class Event;
  struct State;
  std::unique_ptr<State> state_;
};

/// A mark in streams.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Passed when the stream gets there.
  void record(Stream& stream);
  /// The stream goes on when this is passed.
  void wait(Stream& stream) const;
  /// The caller does.
  void synchronize() const;
  bool query() const;
  /// Between the moments at which two events were passed. Throws Error (kInvalidArgument) when one was not.
  static double elapsed_milliseconds(const Event& first, const Event& last);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// New weights for an engine that was built for it.
class Refitter {
 public:
  /// Throws Error (kInvalidArgument) unless the engine is refittable.
  explicit Refitter(std::shared_ptr<Engine> engine);
  ~Refitter();

  /// Names of all weights: the network's initializers.
  std::vector<std::string> all_weights() const;
  /// Those that the engine lacks, and that have not been set.
  std::vector<std::string> missing_weights() const;
  /// Throws Error (kNotFound; kInvalidArgument when type or shape differ).
  void set_weights(std::string_view name, const Tensor& weights);
  /// Puts what was set into the engine: contexts that are made from now on use it, as do those that exist,
  /// from their next run on. Throws Error (kInvalidArgument) naming weights that are still missing, and
  /// changes nothing then.
  void refit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What is inside of an engine.
class EngineInspector {
 public:
  explicit EngineInspector(std::shared_ptr<const Engine> engine);
  enum class Format : uint8_t { kOneLine, kJson };
  size_t layer_count() const;
  /// A step: its name, tactic, inputs and outputs with their formats, the ONNX nodes it stands for.
  std::string layer_information(size_t layer, Format format) const;
  std::string engine_information(Format format) const;

 private:
  std::shared_ptr<const Engine> engine_;
};

}  // namespace assay
