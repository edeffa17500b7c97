// The candidates of tactics for a region, within the caller's constraints.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/planner/region_options.h"
#include "engine/planner/type_holds.h"
#include "engine/tactics/tactic_set.h"

namespace assay::engine {

/// The caller's constraints. Names are those of tactics ("dnnl_conv") or of one of their variants
/// ("dnnl_conv:row").
struct TacticRules {
  /// The set of tactics.
  std::shared_ptr<const TacticSet> set;
  std::set<std::string> disabled;
  /// By the name of an ONNX node: the step that it becomes part of must be one of this name.
  std::map<std::string, std::string> pinned;
  /// The same as a preference: it is followed if possible.
  std::unordered_map<std::string, std::string> preferred;
  /// Scratch memory that a step may take. Bytes.
  int64_t most_scratch = std::numeric_limits<int64_t>::max();
  NumericsClass most_lowered = NumericsClass::kReassociated;
};

inline const TacticSet& tactics_of(const TacticRules& rules) { return *rules.set; }

/// Asks tactics. Shapes are looked up once for each value.
class OptionMaker {
 public:
  /// All must outlive it. `holds`: requested types of nodes; null: none.
  OptionMaker(const Model& model, const TacticConfig& config, const TacticRules& rules,
              const TypeHolds* holds = nullptr);

  const TypeHolds* holds() const { return holds_; }
  const Model& model() const { return model_; }

  RegionOptions options_of(const Region& region);
  /// Only those of this name (Option::name); other tactics are not queried.
  RegionOptions options_of(const Region& region, std::string_view name);
  /// Extents, when they are all known before the run.
  const Shape* shape_of(const Value* v);
  /// See Problem::quantized_constant.
  const QuantizedConstant* quantized_constant(const Value* v);

 private:
  class MadeProblem;
  std::string refuse_unknown(const Candidate& c, const TacticDef& tactic);
  std::string excluded(const Region& region, const Option& option,
                       const std::vector<std::string>& pins) const;

  /// A candidate for the region, or for its main node alone, reads the weights as the model stores them.
  bool can_read_stored(const Region& region, const RegionOptions& found);
  /// Refuses the candidates that hold them dequantized.
  static void keep_stored(RegionOptions& found);

  const Model& model_;
  const TacticConfig& config_;
  const TacticRules& rules_;
  const TypeHolds* holds_;
  std::unordered_map<const Node*, bool> reads_stored_;
  std::unordered_map<const Value*, std::optional<Shape>> shapes_;
  std::unordered_map<const Value*, const QuantizedConstant*> quantized_;
};

}  // namespace assay::engine
