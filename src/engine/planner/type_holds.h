// Enforces requested types of layers and tensors (TypeRules).
//
// A layer with requested float32 runs on algorithms that compute in float32 and read 32-bit weights. One with
// float16 or bfloat16 runs on an algorithm that reads its weights in that type; if there is none, its
// operands are rounded to the type before, as in a network that declares it. One with int8 runs on an
// algorithm that multiplies 8-bit integers, or that works on quantized values. A tensor stored in float16 or
// bfloat16 is rounded after the layer that computes it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/plan/type_rules.h"
#include "engine/planner/region_options.h"
#include "engine/tactics/tactic.h"
#include "transform/quantize.h"

namespace assay::engine {

/// A request that was not followed.
struct UnmetWish {
  std::string name;  ///< of the layer or tensor
  bool is_tensor = false;
  DType wanted = DType::kUndefined;
  std::string reason;

  /// "layer 'fc': int8: its weights are not constant"
  std::string str() const;
};

/// Throws Error (kUnsupported) naming them all, if there are any.
void refuse_unmet(const std::vector<UnmetWish>& unmet);

/// Checks which requests an unmodified network with known types can honor. Removes the others from `rules`
/// and returns them.
std::vector<UnmetWish> take_out_impossible(const Model& model, const Precisions& allowed, TypeRules& rules);

/// The reason why quantization left a node in float32; empty: unknown.
std::string quantization_reason(const Node& n, const QuantizeReport& quantized);

/// Marks the nodes with requested types (analysis/held_types.h), by their origins, and removes older marks.
void mark_held(Model& model, const TypeRules& rules);

/// Inserts roundings after tensors of the main graph that are stored in 16 bits.
void round_stored_tensors(Model& model, const TypeRules& rules);

/// The opset whose Cast the rules need; 0: any.
int64_t opset_for(const TypeRules& rules);

/// Asks the tactics about a region.
using AskTactics = std::function<RegionOptions(const Region&)>;

/// Of one network, while a plan of it is made.
class TypeHolds {
 public:
  /// Both must outlive it.
  TypeHolds(const TypeRules& rules, const Model& model) : rules_(rules), model_(model) {}

  /// Finds what is held, and rounds the operands of nodes that no algorithm computes in their type. After it
  /// no node may be added or removed. What `ask` gives must respect these holds. Gives back what cannot be
  /// followed; that is held no longer. `quantized`: what became of the network by calibration; null: it was
  /// not quantized.
  std::vector<UnmetWish> prepare(Model& model, const AskTactics& ask, const QuantizeReport* quantized);

  /// The reason why a candidate may not run the region; empty: it may.
  std::string refusal(const Region& region, const Candidate& c) const;
  /// The requested type of the node; kUndefined: none.
  DType held(const Node& n) const;
  /// The type to which the operands of one of the region's nodes are rounded; kUndefined: none.
  DType rounded(const Region& region) const;

 private:
  void find_held(const Model& model, std::vector<UnmetWish>& unmet);
  void round_operands(Model& model, const std::vector<Node*>& nodes);

  const TypeRules& rules_;
  const Model& model_;
  std::unordered_map<const Node*, DType> held_;
  std::unordered_set<const Node*> rounded_;
};

/// The computation type of a region with this candidate: of its products, else of its elements; kUndefined:
/// it only moves or converts elements.
DType computed_type(const Region& region, const Candidate& c, const TypeHolds* holds, const Model& model);

}  // namespace assay::engine
