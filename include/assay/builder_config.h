// What a builder of engines (assay/builder.h) may do, and what it tells while it works.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/dtype.h"
#include "assay/int8_calibrator.h"
#include "assay/layer_types.h"
#include "assay/optimization_profile.h"
#include "assay/shape.h"
#include "assay/timing_cache.h"

namespace ASSAY_API assay {

/// How a step wants a tensor that it reads or writes.
struct TensorFormat {
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;  ///< nothing where it is not known before the run
  /// Channels in blocks of so many, the block innermost; 0: row-major.
  int32_t block = 0;
};

/// One way to run one region of a network.
struct Algorithm {
  /// "dnnl_conv:blocked8": the tactic, and which of its ways.
  std::string name;
  std::vector<TensorFormat> inputs, outputs;
  double seconds = 0;  ///< measured or estimated
  int64_t scratch_bytes = 0;
};

/// Decides about regions; as TensorRT's IAlgorithmSelector.
class AlgorithmSelector {
 public:
  virtual ~AlgorithmSelector() = default;
  /// Positions of the algorithms that may be chosen for a region, which goes by the names of its ONNX nodes.
  /// Regions overlap; nodes of one for which none may be chosen run in others. Nothing: any may.
  virtual std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                               const std::vector<Algorithm>& algorithms) = 0;
  /// The final choice, once for each step of the plan that is built for the profile's best shapes.
  virtual void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) = 0;
};

/// How far a long build is.
struct BuildProgress {
  std::string phase;  ///< "optimizing the network", "timing"
  std::string what;   ///< the tactics that compete
  size_t done = 0, total = 0;
  size_t from_cache = 0;  ///< times that the timing cache knew
};

/// Configures a builder.
struct BuilderConfig {
  static constexpr int kDefaultOptimizationLevel = 3, kMaxOptimizationLevel = 5;

  /// 0: nothing is timed, a cost model decides. From 1 on candidates are timed, the more thoroughly the
  /// higher. Never throws: optimization levels out of range count as the nearest one.
  int optimization_level = kDefaultOptimizationLevel;
  /// For inputs with open extents or for shape tensors; contexts choose one. Needed where there are such,
  /// unless is_lazy.
  std::vector<OptimizationProfile> profiles;
  /// Nothing is prepared before it is needed: plans are made for the shapes that runs bring, within profiles
  /// or without any, and those of bodies of control flow when they first run. Nothing is kept for
  /// explanation(). Such an engine can be saved where all shapes are known.
  bool is_lazy = false;
  /// Times are looked up there and added; null: a cache for this build alone.
  std::shared_ptr<TimingCache> timing_cache;
  /// A candidate whose time the cache does not have is an error instead of a measurement. Where it does not
  /// know how candidates do in the network as a whole, their own times decide.
  bool use_timing_cache_only = false;
  /// Scratch memory that a step may take. Bytes.
  int64_t workspace_limit = std::numeric_limits<int64_t>::max();
  /// The network goes into the plan, so that a Refitter may give it other weights.
  bool is_refittable = false;
  /// Weights stay out of the plan: a Refitter gives them. Includes is_refittable.
  bool strips_weights = false;
  /// float32 numbers may be rounded to float16 or bfloat16 where they are stored, if that is faster;
  /// arithmetic stays float32. With bf16 on a processor that multiplies bfloat16 (AVX-512 BF16), both factors
  /// of products may be rounded, and sums stay float32. Either one also allows algorithms that round more
  /// than float32 is expected to (Winograd's with tiles of 4x4). Needed for neither what the network itself
  /// declares to be of these types, nor for weights that lose nothing.
  bool fp16 = false, bf16 = false;
  /// Products with constant weights may be computed in 8-bit integers, by the scales of `calibrator`: their
  /// inputs and weights are rounded to 8 bits, sums are exact, and what is between products stays float32.
  /// Says nothing to a network that has QuantizeLinear or DequantizeLinear: it says itself what it wants.
  bool int8 = false;
  /// Builder::quantized_network() writes inputs of products as int8 with a zero point of 0, the only form
  /// that TensorRT reads; else as uint8, with all 256 steps for what does not go far below zero, as engines
  /// have it.
  bool symmetric_int8 = false;
  /// Where the scales come from; null, with int8: a warning, and nothing is computed in 8 bits.
  std::shared_ptr<Int8Calibrator> calibrator;
  /// ONNX nodes that int8 does not concern, by selectors. Throws Error (kNotFound) for one that fits no node.
  std::vector<std::string> float_nodes;
  /// Types of single layers, and how far they bind; what the network itself says of its layers (a network
  /// script's) comes first. Where several name one layer, its name counts more than a pattern, a pattern more
  /// than `*`, and of equals the later one; two names with different types are an error (kInvalidArgument).
  /// float16 and bfloat16 have to be allowed above. Throws Error: kNotFound for what fits no layer,
  /// kUnsupported naming the layers, with kObey, for requests that cannot be followed.
  std::vector<LayerTypes> layer_types;
  PrecisionConstraints precision_constraints = PrecisionConstraints::kObey;
  /// A name that fits no layer is only a warning, as under upstream's names.
  bool skips_unknown_layers = false;
  /// False: only the passes that the engine cannot do without.
  bool optimize = true;
  /// Names of passes that are left out; how many edits they make at most; whether the graph is checked after
  /// each.
  std::vector<std::string> disabled_passes;
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  bool verify_passes = false;
  /// Names of tactics ("dnnl_conv") or of one of their ways ("dnnl_conv:row") that are left out.
  std::vector<std::string> disabled_tactics;
  /// By the name of an ONNX node: the tactic, or the way, that it must run on.
  std::map<std::string, std::string> pinned_tactics;
  /// Must outlive the build.
  AlgorithmSelector* algorithm_selector = nullptr;
  /// Called from the building thread.
  std::function<void(const BuildProgress&)> on_progress;
};

}  // namespace assay
