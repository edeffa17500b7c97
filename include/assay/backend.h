// The interface of backends, which run a model: --engine, --onnxrt and --ref.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

class Engine;
class PassSet;
class Runtime;
namespace engine {
class TacticSet;
}

/// Name and type of a model input or output; it may be a sequence, optional or map too.
struct TensorInfo {
  std::string name;
  Type type;
};

/// The model to run. `path` is set when the file at that path holds exactly this model, so that a backend
/// which reads files itself may. `model` is null for formats that only the backend reads:
/// BackendInfo::loads_plans, takes_any_file.
struct ModelSource {
  std::shared_ptr<const Model> model;
  std::string path;
};

/// How the reference interpreter treats floating-point values.
enum class ReferencePrecision : uint8_t {
  kFloat64,  ///< everything in float64; only the model's outputs are rounded to their declared types
  kStored,   ///< every operator is computed in float64 and its result rounded to the type the model declares
};

struct SessionOptions {
  int threads = 0;                     ///< 0: the CPUs this process may use
  std::vector<std::string> providers;  ///< ONNX Runtime: execution providers in priority order; empty: CPU
  ReferencePrecision reference_precision = ReferencePrecision::kFloat64;
  std::string library;  ///< ONNX Runtime: path of the shared library; empty: search
  /// ONNX Runtime: graph optimization level, as its API's number; nothing: its own default.
  std::optional<int> graph_optimization_level = {};
  /// ONNX Runtime: shared libraries of custom operators, which export RegisterCustomOps.
  std::vector<std::string> custom_ops = {};
  bool optimize = true;  ///< engine: false leaves out every optional pass
  /// Engine: the passes and tactics that it may use; null: those of this build.
  std::shared_ptr<const PassSet> passes = {};
  std::shared_ptr<const engine::TacticSet> tactics = {};
  /// Engine: the operators that a plan's nodes may use (a model has its own, Model::ops); null: those of this
  /// build.
  std::shared_ptr<const OpSet> ops = {};
  /// Backends with BackendInfo::builds_engines: builds one from a network; empty: with BuilderConfig's
  /// defaults.
  std::function<std::shared_ptr<Engine>(const Runtime& runtime, const std::shared_ptr<const Model>& network)>
      build_engine = {};
  /// Those that load plans: where the engine is saved before it runs (empty: nowhere), and the profile that
  /// its context has.
  std::string save_engine = {};
  size_t profile = 0;
  /// ONNX Runtime: receives the library's warnings, from any thread; null: they go to stderr.
  std::function<void(std::string_view)> on_warning = {};
  /// A runner in Python: outputs whose type or shape differs from the model's declaration are not an error;
  /// the receiver judges them.
  bool judged = false;
};

/// A model prepared on one backend. Not thread-safe.
class Session {
 public:
  virtual ~Session() = default;
  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;

  /// Receives each output once, in any order, as soon as it is final; a backend that can computes the next
  /// only after the sink returns, so that few outputs need to be alive.
  using Sink = std::function<void(size_t output, Tensor)>;
  /// `feed` holds exactly the values of inputs(), in that order, of matching type and shape; values other
  /// than tensors are containers (Tensor::sequence, ...). Throws Error.
  virtual void run(std::span<const Tensor> feed, const Sink& sink) = 0;
  /// Seconds that the backend spent in the last run(), without the sink.
  virtual double last_run_seconds() const = 0;
};

/// An additional configuration of a backend that the conformance check judges.
struct BackendVariant {
  std::string_view name;     ///< follows the backend's name: engine-unoptimized
  std::string_view summary;  ///< for --help
  void (*apply)(SessionOptions&);
};

/// Static description of a backend.
struct BackendInfo {
  std::string_view name;                ///< engine, trt, onnxrt, reference
  std::string_view option = {};         ///< chooses it on a command line: engine, ...
  std::string_view runner_prefix = {};  ///< engine-runner, onnxrt-runner, ...: as in upstream's runner names
  std::string_view human_name = {};     ///< ONNX-Runtime, ...
  std::string_view summary = {};        ///< for --help
  /// Reads ModelSource::path itself, so it gets the model unchanged. Other backends get one with all shapes
  /// inferred.
  bool reads_files = false;
  /// Accepts files in formats that only it reads: ModelSource::model is null then.
  bool takes_any_file = false;
  /// Takes plan files: ModelSource::model is null then, and the plan at its path.
  bool loads_plans = false;
  /// Builds and saves as SessionOptions::build_engine says: runners do not share a session, and a trace opens
  /// none.
  bool builds_engines = false;
  /// Other backends are judged against it: running it requests the verdict.
  bool is_oracle = false;
  /// Shown in summaries in place of a name that would be misleading.
  std::string_view note = {};
  /// Part of this build, so that conformance is judged on it unless other targets are named.
  bool is_own = false;
  std::span<const BackendVariant> variants = {};
};

/// A way to run models. The built-in ones are the lines of backends.def; modules add others. Its
/// functions may be called from any thread.
class Backend : public BackendInfo {
 public:
  explicit constexpr Backend(const BackendInfo& info) : BackendInfo(info) {}
  constexpr virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Empty when the backend can be used here; otherwise the sentence that says why not and what to do.
  virtual std::string probe(const SessionOptions&) const { return {}; }
  /// Throws Error when the model cannot run on it.
  virtual std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const = 0;
  /// Logs how sessions are created (ONNX Runtime: its providers), before the first model is read. Throws
  /// Error when the options request something that is not available.
  virtual void announce(const SessionOptions&) const {}
};

}  // namespace assay
