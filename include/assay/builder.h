// Building engines: the objects of TensorRT's builder, with their names and duties.
#pragma once

#include <memory>
#include <string>

#include "assay/api.h"
#include "assay/builder_config.h"
#include "assay/runtime.h"

namespace ASSAY_API assay {

namespace engine {
class PlanBuilder;
struct SavedEngine;
}  // namespace engine

/// The layout in which a step reads or writes a tensor.
struct TensorFormat {
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;  ///< nothing if it is known only at run time
  /// Size of channel blocks, with the block innermost; 0: row-major.
  int32_t block = 0;
};

/// One way to run one region of a network.
struct Algorithm {
  /// "dnnl_conv:blocked8": the tactic and its variant.
  std::string name;
  std::vector<TensorFormat> inputs, outputs;
  double seconds = 0;  ///< measured or estimated
  int64_t scratch_bytes = 0;
};

/// Decides about regions; as TensorRT's IAlgorithmSelector.
class AlgorithmSelector {
 public:
  virtual ~AlgorithmSelector() = default;
  /// Positions of the algorithms that may be chosen for a region, given by the names of its ONNX nodes.
  /// Regions overlap: nodes of a region without any run in others. Nothing: all may.
  virtual std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                               const std::vector<Algorithm>& algorithms) = 0;
  /// Reports the final choices, once for each step of the plan that is built for the profile's best shapes.
  virtual void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) = 0;
};

/// Progress of a long build.
struct BuildProgress {
  std::string phase;  ///< "optimizing the network", "timing"
  std::string what;   ///< the tactics that compete
  size_t done = 0, total = 0;
  size_t from_cache = 0;  ///< times found in the timing cache
};

/// Configuration of a build.
struct BuilderConfig {
  static constexpr int kDefaultOptimizationLevel = 3, kMaxOptimizationLevel = 5;

  /// 0: nothing is timed, a cost model decides. From 1 on candidates are timed, more thoroughly with higher
  /// values. Values out of range are clamped.
  int optimization_level = kDefaultOptimizationLevel;
  /// For inputs with open extents and shape tensors; each context chooses one. Required if there are any,
  /// unless is_lazy.
  std::vector<OptimizationProfile> profiles;
  /// Prepares nothing before it is needed: plans are made for the shapes that occur at run time, with or
  /// without profiles, and for bodies of control flow when they first run. explanation() stays empty. Such an
  /// engine can be saved if all shapes are known.
  bool is_lazy = false;
  /// Times are looked up there and added; null: a cache for this build alone.
  std::shared_ptr<TimingCache> timing_cache;
  /// A candidate whose time the cache does not have is an error instead of a measurement. Where it lacks
  /// times of candidates within the whole network, their isolated times decide.
  bool use_timing_cache_only = false;
  /// Scratch memory that a step may take. Bytes.
  int64_t workspace_limit = std::numeric_limits<int64_t>::max();
  /// The plan includes the network, so that a Refitter can replace its weights.
  bool is_refittable = false;
  /// The plan excludes weights: a Refitter supplies them. Includes is_refittable.
  bool strips_weights = false;
  /// float32 numbers may be rounded to float16 or bfloat16 where they are stored, if that is faster;
  /// arithmetic stays float32. With bf16 on a processor that multiplies bfloat16 (AVX-512 BF16), both factors
  /// of products may be rounded, and sums stay float32. Either one also allows algorithms that round more
  /// than float32 is expected to (Winograd's with tiles of 4x4). Not needed for tensors that the network
  /// itself declares with these types, nor for weights that are exactly representable.
  bool fp16 = false, bf16 = false;
  /// Products with constant weights may be computed in 8-bit integers, by the scales of `calibrator`: their
  /// inputs and weights are rounded to 8 bits, sums are exact, and values between products stay float32. Has
  /// no effect on a network with QuantizeLinear or DequantizeLinear, which specifies its own quantization.
  bool int8 = false;
  /// Where the scales come from; null, with int8: a warning, and nothing is computed in 8 bits.
  std::shared_ptr<Int8Calibrator> calibrator;
  /// Names of ONNX nodes that are excluded from int8. Throws Error (kNotFound) for one that does not exist.
  std::vector<std::string> float_nodes;
  /// Types of individual layers, and how strictly they are enforced; types that the network sets itself (in a
  /// network script) take precedence. If several entries match one layer, its name takes precedence over a
  /// pattern, a pattern over `*`, and a later entry over an equal one; conflicting names are an error
  /// (kInvalidArgument). float16 and bfloat16 must be allowed above. Throws Error: kNotFound for a selector
  /// that matches no layer; with kObey, kUnsupported naming the layers.
  std::vector<LayerTypes> layer_types;
  PrecisionConstraints precision_constraints = PrecisionConstraints::kObey;
  /// A selector that matches no layer is a warning, as in Polygraphy.
  bool skips_unknown_layers = false;
  /// False: only the passes that the engine requires.
  bool optimize = true;
  /// Names of disabled passes; the maximum number of
  /// edits; whether the graph is checked after each.
  std::vector<std::string> disabled_passes;
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  bool verify_passes = false;
  /// Names of tactics ("dnnl_conv") or of their variants ("dnnl_conv:row") that are disabled.
  std::vector<std::string> disabled_tactics;
  /// By the name of an ONNX node: the tactic, or variant of one, that it must run on.
  std::map<std::string, std::string> pinned_tactics;
  /// Must outlive the build.
  AlgorithmSelector* algorithm_selector = nullptr;
  /// Called from the building thread.
  std::function<void(const BuildProgress&)> on_progress;
};

/// Builds engines.
class Builder {
 public:
  explicit Builder(const Runtime& runtime);

  /// The network is not changed; the engine shares the data that it needs. Throws Error naming the node,
  /// input or option: kUnsupported for what no tactic runs, kInvalidModel, kInvalidArgument for a config that
  /// contradicts the network.
  std::shared_ptr<Engine> build_engine(const std::shared_ptr<const Model>& network,
                                       const BuilderConfig& config = {}) const;
  /// Calls build_engine() and Engine::serialize().
  std::string build_serialized_network(const std::shared_ptr<const Model>& network,
                                       const BuilderConfig& config = {}) const;

  /// For --explain: each region of the last engine with its candidates, their times, and why the others were
  /// refused.
  const std::string& explanation() const { return explanation_; }
  /// For --verbose: the edits that passes made to the last engine's network, and the memory of its plans.
  const std::string& summary() const { return summary_; }
  /// One line: how many layers of the last engine compute in each type, and why others stayed in float32.
  /// Empty where only float32 was allowed.
  const std::string& type_summary() const { return type_summary_; }

 private:
  std::shared_ptr<Engine> lazy_engine(const std::shared_ptr<const Model>& network, engine::SavedEngine saved,
                                      std::unique_ptr<engine::PlanBuilder> builder) const;

  std::shared_ptr<Runtime::State> runtime_;
  mutable std::string explanation_, summary_, type_summary_;
};

}  // namespace assay
