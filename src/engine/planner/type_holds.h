// Keeps layers and tensors in the types that they are held in (TypeRules).
//
// A layer that is held in float32 runs on algorithms that compute in float32 and read weights of 32 bits. One
// that is held in float16 or bfloat16 runs on an algorithm that reads its weights in that type; where there
// is none, its operands are rounded to the type before it computes, as those of a network that declares it
// are. One that is held in int8 runs on an algorithm that multiplies 8-bit integers, or that works on the
// levels. A tensor that is stored in float16 or bfloat16 is rounded behind the layer that gives it.
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

/// A wish that was not followed.
struct UnmetWish {
  std::string name;  ///< of the layer or tensor
  bool is_tensor = false;
  DType wanted = DType::kUndefined;
  std::string reason;

  /// "layer 'fc': int8: its weights are not constant"
  std::string str() const;
};

/// Throws Error (kUnsupported) that names them all, if there are any.
void refuse_unmet(const std::vector<UnmetWish>& unmet);

/// What wishes a network can follow at all, before anything has changed it: types are known. Those that it
/// cannot are taken out of `rules` and given back.
std::vector<UnmetWish> take_out_impossible(const Model& model, const Precisions& allowed, TypeRules& rules);

/// Why the network's quantization left a node in float32; empty: it does not say.
std::string quantization_reason(const Node& n, const QuantizeReport& quantized);

/// Marks the nodes that are held (analysis/held_types.h), by their origins, and forgets older marks.
void mark_held(Model& model, const TypeRules& rules);

/// Puts roundings behind tensors of the main graph that are stored in 16 bits.
void round_stored_tensors(Model& model, const TypeRules& rules);

/// The opset whose Cast the rules need; 0: any.
int64_t opset_for(const TypeRules& rules);

/// What tactics answer about a region.
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

  /// Why a candidate may not run the region; empty: it may.
  std::string refusal(const Region& region, const Candidate& c) const;
  /// The type that the node is held in; kUndefined: none.
  DType held(const Node& n) const;
  /// The type that the operands of one of the region's nodes are rounded to; kUndefined: none.
  DType rounded(const Region& region) const;

 private:
  void find_held(const Model& model, std::vector<UnmetWish>& unmet);
  void round_operands(Model& model, const std::vector<Node*>& nodes);

  const TypeRules& rules_;
  const Model& model_;
  std::unordered_map<const Node*, DType> held_;
  std::unordered_set<const Node*> rounded_;
};

/// What a region computes in when this candidate runs it: the type of its products, else of its numbers;
/// kUndefined: it only moves or converts numbers.
DType computed_type(const Region& region, const Candidate& c, const TypeHolds* holds, const Model& model);

}  // namespace assay::engine
