// Loaders: Polygraphy's, under their own names. A loader is an object that produces its result when it is
// called, and not before; it accepts other loaders or plain values in their place, so that loaders compose:
//
//   EngineFromNetwork build{NetworkFromOnnxPath("m.onnx"), CreateConfig{.fp16 = true}};
//   std::shared_ptr<Engine> engine = build();
//
// Each has an immediate form in snake_case: engine_from_network(network, config). All of them throw Error
// when called.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/builder.h"
#include "assay/fold.h"
#include "assay/graph.h"
#include "assay/io.h"
#include "assay/runtime.h"

namespace ASSAY_API assay {
namespace poly {

/// A T, or a function that produces one on demand.
template <typename T>
class Lazy {
 public:
  Lazy(T value) : make_([value = std::move(value)] { return value; }) {}  // NOLINT: values are lazy values
  template <typename Make>
  requires(!std::same_as<std::remove_cvref_t<Make>, Lazy> && std::invocable<std::remove_cvref_t<Make>&> &&
           std::convertible_to<std::invoke_result_t<std::remove_cvref_t<Make>&>, T>) Lazy(Make&& make)
      : make_(std::forward<Make>(make)) {}  // NOLINT: loaders are lazy values
  /// Produces the value, again for each call.
  T operator()() const { return make_(); }

 private:
  std::function<T()> make_;
};

/// TensorRT's network is an ONNX graph here.
using Network = std::shared_ptr<Model>;
using Bytes = std::string;

/// A file's bytes.
class BytesFromPath {
 public:
  explicit BytesFromPath(std::string path) : path_(std::move(path)) {}
  Bytes operator()() const;

 private:
  std::string path_;
};

/// Writes bytes to a file atomically and returns them.
class SaveBytes {
 public:
  SaveBytes(Lazy<Bytes> bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  Bytes operator()() const;

 private:
  Lazy<Bytes> bytes_;
  std::string path_;
};

class OnnxFromPath {
 public:
  explicit OnnxFromPath(std::string path, ImportOptions options = {})
      : path_(std::move(path)), options_(std::move(options)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  std::string path_;
  ImportOptions options_;
};

class OnnxFromBytes {
 public:
  explicit OnnxFromBytes(Lazy<Bytes> bytes, ImportOptions options = {})
      : bytes_(std::move(bytes)), options_(std::move(options)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  Lazy<Bytes> bytes_;
  ImportOptions options_;
};

/// Loaders that change a model change a copy: their argument is not modified.
class ModelLoaderBase {
 public:
  explicit ModelLoaderBase(Lazy<std::shared_ptr<Model>> model) : model_(std::move(model)) {}

 protected:
  std::shared_ptr<Model> copy() const;
  Lazy<std::shared_ptr<Model>> model_;
};

/// Chooses the outputs of a model; names may be any selector of outputs.
struct Outputs {
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs = {}, exclude_outputs = {};
};

class ModifyOutputs : public ModelLoaderBase {
 public:
  ModifyOutputs(Lazy<std::shared_ptr<Model>> model, Outputs outputs)
      : ModelLoaderBase(std::move(model)), outputs_(std::move(outputs)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  Outputs outputs_;
};
using ModifyNetworkOutputs = ModifyOutputs;

class ConvertToFp16 : public ModelLoaderBase {
 public:
  using ModelLoaderBase::ModelLoaderBase;
  std::shared_ptr<Model> operator()() const;
};

/// Folds constants and removes unused nodes and values.
class FoldConstants : public ModelLoaderBase {
 public:
  explicit FoldConstants(Lazy<std::shared_ptr<Model>> model, FoldOptions options = {})
      : ModelLoaderBase(std::move(model)), options_(std::move(options)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  FoldOptions options_;
};

/// Infers types and shapes of values where possible; the rest stays open.
class InferShapes : public ModelLoaderBase {
 public:
  using ModelLoaderBase::ModelLoaderBase;
  std::shared_ptr<Model> operator()() const;
};

/// Bounds for tensors whose values decide shapes. A bound of the name "" holds for all of them.
class SetUpperBound : public ModelLoaderBase {
 public:
  SetUpperBound(Lazy<std::shared_ptr<Model>> model, std::vector<std::pair<std::string, int64_t>> bounds)
      : ModelLoaderBase(std::move(model)), bounds_(std::move(bounds)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  std::vector<std::pair<std::string, int64_t>> bounds_;
};

/// An input or output of a part of a model; omitted properties are taken from the model.
struct CutPoint {
  std::string name;
  std::optional<Dims> dims = {};
  std::optional<DType> dtype = {};
};

/// Extracts the part of a model between tensors. Empty lists: the model's own.
class ExtractSubgraph : public ModelLoaderBase {
 public:
  ExtractSubgraph(Lazy<std::shared_ptr<Model>> model, std::vector<CutPoint> inputs,
                  std::vector<CutPoint> outputs)
      : ModelLoaderBase(std::move(model)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  std::vector<CutPoint> inputs_, outputs_;
};

/// Saves a model and returns it.
class SaveOnnx : public ModelLoaderBase {
 public:
  SaveOnnx(Lazy<std::shared_ptr<Model>> model, std::string path, ExportOptions options = {})
      : ModelLoaderBase(std::move(model)), path_(std::move(path)), options_(std::move(options)) {}
  std::shared_ptr<Model> operator()() const;

 private:
  std::string path_;
  ExportOptions options_;
};

class BytesFromOnnx : public ModelLoaderBase {
 public:
  using ModelLoaderBase::ModelLoaderBase;
  Bytes operator()() const;
};

/// A session on ONNX Runtime, or on any other backend by its name.
class SessionFromOnnx : public ModelLoaderBase {
 public:
  explicit SessionFromOnnx(Lazy<std::shared_ptr<Model>> model, SessionOptions options = {},
                           std::string backend = "onnxrt")
      : ModelLoaderBase(std::move(model)), options_(std::move(options)), backend_(std::move(backend)) {}
  std::shared_ptr<Session> operator()() const;

 private:
  SessionOptions options_;
  std::string backend_;
};

/// A network without inputs and layers, of the newest opset: layer() of edit.h adds them.
class CreateNetwork {
 public:
  Network operator()() const;
};

class NetworkFromOnnxPath {
 public:
  explicit NetworkFromOnnxPath(std::string path) : path_(std::move(path)) {}
  Network operator()() const;

 private:
  std::string path_;
};

class NetworkFromOnnxBytes {
 public:
  explicit NetworkFromOnnxBytes(Lazy<Bytes> bytes) : bytes_(std::move(bytes)) {}
  Network operator()() const;

 private:
  Lazy<Bytes> bytes_;
};

/// The input of Builder: a copy in which calls of local functions are inlined and types inferred.
class PrepareNetwork : public ModelLoaderBase {
 public:
  using ModelLoaderBase::ModelLoaderBase;
  Network operator()() const;
};

class PostprocessNetwork : public ModelLoaderBase {
 public:
  PostprocessNetwork(Lazy<Network> network, std::function<void(Network&)> change)
      : ModelLoaderBase(std::move(network)), change_(std::move(change)) {}
  Network operator()() const;

 private:
  std::function<void(Network&)> change_;
};

/// Shapes of a dynamic input: minimum, optimum, maximum.
struct ShapeTuple {
  Shape min, opt, max;
};

/// Shapes of all dynamic inputs.
class Profile {
 public:
  Profile& add(std::string input, Shape min, Shape opt, Shape max);
  /// Adds inputs with open extents that are missing, with `extent` in place of each. Throws Error
  /// (kInvalidArgument) for an input of unknown rank.
  Profile& fill_defaults(const Model& network, int64_t extent = 1);
  const std::vector<std::pair<std::string, ShapeTuple>>& shapes() const { return shapes_; }
  OptimizationProfile profile() const;

 private:
  std::vector<std::pair<std::string, ShapeTuple>> shapes_;
};

/// Configuration of a build. TensorRT's other settings
/// have no meaning for this engine and are omitted.
struct CreateConfig {
  std::vector<Profile> profiles = {};
  bool fp16 = false, bf16 = false;
  /// Products in 8-bit integers, by the scales of the calibrator: assay/calibrator.h has Polygraphy's.
  bool int8 = false;
  std::shared_ptr<Int8Calibrator> calibrator = {};
  /// Types of individual layers (assay/layer_types.h), and how strictly they are enforced.
  std::vector<LayerTypes> layer_types = {};
  PrecisionConstraints precision_constraints = PrecisionConstraints::kObey;
  int builder_optimization_level = BuilderConfig::kDefaultOptimizationLevel;
  /// Files; empty: none.
  std::string load_timing_cache = {}, save_timing_cache = {};
  bool error_on_timing_cache_miss = false;
  std::optional<int64_t> workspace_limit = {};  ///< bytes
  bool refittable = false, strip_plan = false;
  AlgorithmSelector* algorithm_selector = nullptr;

  struct Config {
    BuilderConfig builder;
    std::string load_timing_cache, save_timing_cache;
    std::vector<Profile> profiles;
  };
  Config operator()() const;
};
using Config = CreateConfig::Config;

class PostprocessConfig {
 public:
  PostprocessConfig(Lazy<Config> config, std::function<void(Config&)> change)
      : config_(std::move(config)), change_(std::move(change)) {}
  Config operator()() const;

 private:
  Lazy<Config> config_;
  std::function<void(Config&)> change_;
};

/// The runtime of the engines, which keep it alive.
class LoadRuntime {
 public:
  explicit LoadRuntime(RuntimeOptions options = {}) : options_(std::move(options)) {}
  std::shared_ptr<Runtime> operator()() const;

 private:
  RuntimeOptions options_;
};

/// Builds. Open extents of inputs that no profile names are set to 1, as in Polygraphy.
class EngineFromNetwork {
 public:
  explicit EngineFromNetwork(Lazy<Network> network, Lazy<Config> config = CreateConfig(),
                             Lazy<std::shared_ptr<Runtime>> runtime = LoadRuntime())
      : network_(std::move(network)), config_(std::move(config)), runtime_(std::move(runtime)) {}
  std::shared_ptr<Engine> operator()() const;

 private:
  Lazy<Network> network_;
  Lazy<Config> config_;
  Lazy<std::shared_ptr<Runtime>> runtime_;
};

/// The plan of the engine that EngineFromNetwork builds.
class EngineBytesFromNetwork {
 public:
  explicit EngineBytesFromNetwork(Lazy<Network> network, Lazy<Config> config = CreateConfig())
      : build_(std::move(network), std::move(config)) {}
  Bytes operator()() const;

 private:
  EngineFromNetwork build_;
};

class EngineFromBytes {
 public:
  explicit EngineFromBytes(Lazy<Bytes> bytes, Lazy<std::shared_ptr<Runtime>> runtime = LoadRuntime())
      : bytes_(std::move(bytes)), runtime_(std::move(runtime)) {}
  std::shared_ptr<Engine> operator()() const;

 private:
  Lazy<Bytes> bytes_;
  Lazy<std::shared_ptr<Runtime>> runtime_;
};

/// The plan stays mapped; weights are used in place.
class EngineFromPath {
 public:
  explicit EngineFromPath(std::string path, Lazy<std::shared_ptr<Runtime>> runtime = LoadRuntime())
      : path_(std::move(path)), runtime_(std::move(runtime)) {}
  std::shared_ptr<Engine> operator()() const;

 private:
  std::string path_;
  Lazy<std::shared_ptr<Runtime>> runtime_;
};

class BytesFromEngine {
 public:
  explicit BytesFromEngine(Lazy<std::shared_ptr<Engine>> engine) : engine_(std::move(engine)) {}
  Bytes operator()() const;

 private:
  Lazy<std::shared_ptr<Engine>> engine_;
};

/// Saves an engine's plan and returns the engine.
class SaveEngine {
 public:
  SaveEngine(Lazy<std::shared_ptr<Engine>> engine, std::string path)
      : engine_(std::move(engine)), path_(std::move(path)) {}
  std::shared_ptr<Engine> operator()() const;

 private:
  Lazy<std::shared_ptr<Engine>> engine_;
  std::string path_;
};

/// The network after the engine's shape-independent passes, as ONNX.
class OnnxLikeFromNetwork : public ModelLoaderBase {
 public:
  using ModelLoaderBase::ModelLoaderBase;
  std::shared_ptr<Model> operator()() const;
};

// Immediate forms.
template <typename... T>
Bytes bytes_from_path(T&&... t) {
  return BytesFromPath(std::forward<T>(t)...)();
}
template <typename... T>
Bytes save_bytes(T&&... t) {
  return SaveBytes(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> onnx_from_path(T&&... t) {
  return OnnxFromPath(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> onnx_from_bytes(T&&... t) {
  return OnnxFromBytes(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> modify_outputs(T&&... t) {
  return ModifyOutputs(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> convert_to_fp16(T&&... t) {
  return ConvertToFp16(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> fold_constants(T&&... t) {
  return FoldConstants(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> infer_shapes(T&&... t) {
  return InferShapes(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> set_upper_bound(T&&... t) {
  return SetUpperBound(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> extract_subgraph(T&&... t) {
  return ExtractSubgraph(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> save_onnx(T&&... t) {
  return SaveOnnx(std::forward<T>(t)...)();
}
template <typename... T>
Bytes bytes_from_onnx(T&&... t) {
  return BytesFromOnnx(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Session> session_from_onnx(T&&... t) {
  return SessionFromOnnx(std::forward<T>(t)...)();
}
inline Network create_network() { return CreateNetwork()(); }
template <typename... T>
Network network_from_onnx_path(T&&... t) {
  return NetworkFromOnnxPath(std::forward<T>(t)...)();
}
template <typename... T>
Network network_from_onnx_bytes(T&&... t) {
  return NetworkFromOnnxBytes(std::forward<T>(t)...)();
}
template <typename... T>
Network postprocess_network(T&&... t) {
  return PostprocessNetwork(std::forward<T>(t)...)();
}
inline Config create_config(const CreateConfig& config = {}) { return config(); }
template <typename... T>
Config postprocess_config(T&&... t) {
  return PostprocessConfig(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Runtime> load_runtime(T&&... t) {
  return LoadRuntime(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Engine> engine_from_network(T&&... t) {
  return EngineFromNetwork(std::forward<T>(t)...)();
}
template <typename... T>
Bytes engine_bytes_from_network(T&&... t) {
  return EngineBytesFromNetwork(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Engine> engine_from_bytes(T&&... t) {
  return EngineFromBytes(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Engine> engine_from_path(T&&... t) {
  return EngineFromPath(std::forward<T>(t)...)();
}
template <typename... T>
Bytes bytes_from_engine(T&&... t) {
  return BytesFromEngine(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Engine> save_engine(T&&... t) {
  return SaveEngine(std::forward<T>(t)...)();
}
template <typename... T>
std::shared_ptr<Model> onnx_like_from_network(T&&... t) {
  return OnnxLikeFromNetwork(std::forward<T>(t)...)();
}

}  // namespace poly
}  // namespace assay
