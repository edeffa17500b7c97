// Engines as files. A file has three parts: a header of fixed size, the structure (plan.fbs, FlatBuffers),
// and the blobs: weights and ONNX models, each at a multiple of kBlobAlignment, so that kernels read them
// where the file is mapped. Header and parts have checksums.
//
// Checksums find damage, FlatBuffers' verifier what points outside, verify() a plan that contradicts itself.
// Whether the parameters of a step fit its operands is for its tactic to say (runtime/step_reader.h). Only
// then does anything run.
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

/// Raised when older files can no longer be read, or newer ones no longer by older programs.
inline constexpr uint32_t kPlanFileVersion = 3;
inline constexpr size_t kBlobAlignment = 64;

/// A plan for one set of input shapes.
struct SpecializedPlan {
  PlanKey key;
  std::shared_ptr<const Plan> plan;  ///< null where weights have been left out
};

/// How the step of an ONNX node was chosen: for plans for other shapes and for other weights.
struct Preference {
  std::string origin;     ///< the node's name
  std::string candidate;  ///< "dnnl_conv:blocked8"
};

/// What the builder was allowed: plans for other shapes and for other weights are made under the same rules.
struct SavedRules {
  Precisions precisions;
  bool optimize = true;
  std::vector<std::string> disabled_passes;
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  std::vector<std::string> disabled_tactics;
  std::vector<Preference> pinned;
  int64_t most_scratch = std::numeric_limits<int64_t>::max();
  /// By which scales the network is quantized; null: it is not.
  std::shared_ptr<const QuantizeOptions> quantization;
  TypeRules types;
};

/// What a plan file holds.
struct SavedEngine {
  struct Interface {
    std::string name;
    Type type;
  };

  std::string name;         ///< of the network
  std::string environment;  ///< what kernels and packed weights depend on; another one cannot run them
  std::string producer;     ///< program and version
  int threads = 1;
  std::vector<Interface> inputs, outputs;
  std::vector<OptimizationProfile> profiles;
  std::vector<SpecializedPlan> plans;
  std::vector<Preference> preferences;
  /// The network itself, where other shapes or other weights may be asked for; else null.
  std::shared_ptr<const Model> model;
  SavedRules rules;
  bool is_refittable = false;
  /// Weights have been left out: they must be given before anything runs.
  bool is_stripped = false;
};

/// Writes the file; appears whole or not at all. Throws Error (kIo; kInvalidArgument for models beyond 2 GB
/// that must be inside).
void save_engine(const SavedEngine& engine, const std::string& path);
/// The same in memory.
std::string serialize_engine(const SavedEngine& engine);

/// A network inside a file, and where its parts are kept.
struct NetworkBytes {
  std::string_view message;  ///< ONNX's
  std::vector<std::pair<std::string, UnalignedTensor>> weights;
  std::shared_ptr<const void> owner;  ///< of the bytes
  std::string file;                   ///< for messages
};
/// Makes models of them; null where it leaves them.
using NetworkReader = std::function<std::shared_ptr<const Model>(const NetworkBytes&)>;

/// Reads a file; constants stay in it. Throws Error that names the file and says what is wrong: kNotFound,
/// kIo; kInvalidModel for a file that is damaged or no plan; kUnsupported for one of another version or
/// environment (`environment`: what this process is). `ops`: what operators its networks may have; null:
/// those of this build.
SavedEngine load_engine(const std::string& path, std::string_view environment,
                        std::shared_ptr<const OpSet> ops = nullptr);
/// The same for bytes, kept alive by `owner`; `name` stands for the file in messages.
SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, std::shared_ptr<const OpSet> ops = nullptr);
/// The same, with another way to read networks.
SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, const NetworkReader& read_network);

/// Throws Error (kInvalidModel) naming step and value for a plan that contradicts itself: numbers that point
/// nowhere, values outside their memory, steps that read what none has written. What a step's parameters mean
/// is its tactic's part.
void verify(const Plan& plan);

}  // namespace assay::engine
