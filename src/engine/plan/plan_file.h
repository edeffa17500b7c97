// Engines as files. A file has three parts: a header of fixed size, the structure (plan.fbs, FlatBuffers),
// and the blobs: weights and ONNX models, each at a multiple of kBlobAlignment, so that kernels read them
// where the file is mapped. Header and parts have checksums.
//
// Checksums detect damage, FlatBuffers' verifier offsets out of
// range, verify() an inconsistent plan. The tactic of a step checks
// its parameters (runtime/step_reader.h). Nothing runs before that.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/graph.h"
#include "assay/optimization_profile.h"
#include "engine/plan/plan.h"
#include "engine/plan/type_rules.h"
#include "transform/quantize.h"

namespace assay::engine {

/// Incremented when the format becomes incompatible in either direction.
inline constexpr uint32_t kPlanFileVersion = 4;
inline constexpr size_t kBlobAlignment = 64;

/// A plan for one set of input shapes.
struct SpecializedPlan {
  PlanKey key;
  std::shared_ptr<const Plan> plan;  ///< null if weights were excluded
};

/// The choice for an ONNX node's step: for plans for other shapes and for other weights.
struct Preference {
  std::string origin;     ///< the node's name
  std::string candidate;  ///< "dnnl_conv:blocked8"
};

/// The build settings: plans for other shapes and for other weights are made with the same ones.
struct SavedRules {
  Precisions precisions;
  bool optimize = true;
  std::vector<std::string> disabled_passes;
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  std::vector<std::string> disabled_tactics;
  std::vector<Preference> pinned;
  int64_t most_scratch = std::numeric_limits<int64_t>::max();
  /// The scales of the network's quantization; null: none.
  std::shared_ptr<const QuantizeOptions> quantization;
  TypeRules types;
};

/// A product that computes in float32 because no algorithm was found for it in the narrower types that were
/// allowed.
struct NearMiss {
  std::string layer;  ///< step_name() of its step
  std::string reason;
  int64_t multiply_adds = 0;
  bool operator==(const NearMiss&) const = default;
};

/// The content of a plan file.
struct SavedEngine {
  struct Interface {
    std::string name;
    Type type;
  };

  std::string name;         ///< of the network
  std::string environment;  ///< fingerprint that kernels and packed weights depend on; others cannot run them
  std::string producer;     ///< program and version
  int threads = 1;
  std::vector<Interface> inputs, outputs;
  std::vector<OptimizationProfile> profiles;
  std::vector<SpecializedPlan> plans;
  std::vector<Preference> preferences;
  std::vector<NearMiss> near_misses;  ///< of the first plan, those with most multiply-adds first
  /// The network itself, if other shapes or other weights may be requested; else null.
  std::shared_ptr<const Model> model;
  SavedRules rules;
  bool is_refittable = false;
  /// Weights were excluded: they must be supplied before anything runs.
  bool is_stripped = false;
};

/// Writes the file atomically. Throws Error (kIo; kInvalidArgument for models beyond 2 GB
/// that must be inside).
void save_engine(const SavedEngine& engine, const std::string& path);
/// The same in memory.
std::string serialize_engine(const SavedEngine& engine);

/// A network inside a file, and the owner of its bytes.
struct NetworkBytes {
  std::string_view message;  ///< ONNX's
  std::vector<std::pair<std::string, UnalignedTensor>> weights;
  std::shared_ptr<const void> owner;  ///< of the bytes
  std::string file;                   ///< for messages
};
/// Converts them to models; null: leaves them.
using NetworkReader = std::function<std::shared_ptr<const Model>(const NetworkBytes&)>;

/// Reads a file; constants stay in it. Throws Error naming the file and the defect: kNotFound, kIo;
/// kInvalidModel for a file that is damaged or not a plan; kUnsupported for one of another version or
/// environment (`environment`: this process's). `ops`: the operator set of its networks; null: the built-in
/// one.
SavedEngine load_engine(const std::string& path, std::string_view environment,
                        std::shared_ptr<const OpSet> ops = nullptr);
/// The same for bytes, kept alive by `owner`; `name` identifies the file in messages.
SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, std::shared_ptr<const OpSet> ops = nullptr);
/// The same, with another way to read networks.
SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, const NetworkReader& read_network);

/// Throws Error (kInvalidModel) naming step and value for an inconsistent
/// plan: indices out of range, values outside their memory, steps that
/// read unwritten values. The tactics check their steps' parameters.
void verify(const Plan& plan);

}  // namespace assay::engine
