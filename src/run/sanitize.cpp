#include "run/sanitize.h"

#include <algorithm>
#include <set>

#include "assay/edit.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/count_nodes.h"
#include "graph/export.h"
#include "graph/order.h"
#include "naming/origins.h"
#include "naming/source_notes.h"
#include "ops/check.h"
#include "run/model_loader.h"
#include "run/observed_types.h"
#include "surgeon/contradiction.h"
#include "surgeon/input_shapes.h"
#include "transform/mark_outputs.h"

namespace assay {
namespace {

/// From IR version 4 on a caller may replace initializers that are listed among the inputs.
bool is_replaceable(const Model& model, const Value& v) { return model.ir_version >= 4 && v.is_overridable; }

void change_outputs(const SanitizeOptions& options, Model& model) {
  if (options.marks_all)
    mark_all_outputs(model);
  else if (options.outputs)
    mark_outputs(model, *options.outputs);
  if (!options.output_types.empty())
    mark_outputs_by_type(model, options.output_types,
                         /*add=*/options.marks_all || options.outputs.has_value());
  if (options.exclude_outputs) unmark_outputs(model, *options.exclude_outputs);
}

/// Folds less after a failed proof.
FoldOptions limited(FoldOptions options, FoldExtent extent) {
  if (extent != FoldExtent::kAll) options.fold_shapes = false;
  if (extent != FoldExtent::kNone) return options;
  options.flatten_subgraphs = false;
  options.should_exclude_node = [](const Node&) { return true; };
  return options;
}

/// One edit of the whole model.
class Sanitizer {
 public:
  Sanitizer(const SanitizeOptions& options, FoldExtent extent, AllowsEdit allows_edit,
            SanitizeObserver& observer)
      : options_(options),
        extent_(extent),
        fold_(limited(options.fold, extent)),
        allows_edit_(std::move(allows_edit)),
        observer_(observer) {}

  void run(const std::shared_ptr<Model>& model) {
    mark(*model);
    observer_.on_begin(*model);
    override_shapes(*model);
    if (options_.observed_data) observe_types(model, options_.observed_data());
    if (options_.cleans) {
      settle_initializers(*model);
      cleanup(*model);
    }
    if (options_.sorts) toposort(*model);
    if (options_.infers && !options_.input_shapes.empty()) infer_known_shapes(*model, true);
    if (options_.folds && extent_ != FoldExtent::kNone) fold(*model);
    if (options_.simplifies) simplify(*model);
    if (options_.infers) infer_known_shapes(*model, true);
  }
  const FoldTotals& totals() const { return totals_; }

 private:
  void mark(Model& model) {
    if (options_.folds || options_.simplifies) check_forms(model);
    if (options_.infers) infer_known_shapes(model, true);
    change_outputs(options_, model);
    if (options_.bounds) observer_.on_bounds(set_upper_bounds(model, *options_.bounds));
  }

  void override_shapes(Model& model) {
    if (options_.input_shapes.empty()) return;
    const std::shared_ptr<Model> before = clone_model(model);
    override_input_shapes(model, options_.input_shapes);
    require_possible(*before, model, say(Say::kNameOverrideShapes));
    observer_.on_input_shapes(model);
  }

  /// As in Polygraphy: callers rarely replace them,
  /// and as long as they may, nothing can be folded.
  void settle_initializers(Model& model) {
    int64_t count = 0;
    for (const auto& v : model.graph->values()) {
      if (!is_replaceable(model, *v)) continue;
      v->is_overridable = false;
      ++count;
    }
    if (count > 0) observer_.on_settled(count);
  }

  void fold(Model& model) {
    const bool infers = fold_.fold_shapes && options_.infers && options_.infers_between_folds;
    for (int64_t pass = 1; pass <= options_.max_folds; ++pass) {
      observer_.on_fold_begin(pass);
      const int64_t before = count_nodes(*model.graph);
      const FoldReport report = fold_constants(model, fold_);
      cleanup(model);
      const int64_t after = count_nodes(*model.graph);
      observer_.on_fold_end(before, after);
      add(report.folded_nodes, report.flattened_ifs, report.elided_casts);
      for (const FoldReport::Kept& k : report.too_large)
        if (kept_.insert(k.node).second) observer_.on_too_large(k);
      for (const FoldReport::Kept& k : report.failed)
        if (kept_.insert(k.node).second) observer_.on_not_folded(k);
      if (after == before) break;
      if (infers) infer_known_shapes(model, true);
    }
  }

  void simplify(Model& model) {
    const auto& values = model.graph->values();
    const auto replaceable =
        std::count_if(values.begin(), values.end(), [&](const auto& v) { return is_replaceable(model, *v); });
    if (replaceable > 0) observer_.on_replaceable(replaceable);
    const SimplifyReport report = assay::simplify(
        model,
        {.fold = fold_, .infer = options_.infers, .set = options_.passes, .allows_edit = allows_edit_});
    for (const PassReport& r : report.passes) observer_.on_simplified(r);
    add(report.folded_nodes, report.flattened_ifs, report.elided_casts);
    remove_origins(model);
    // Source notes are a large part of small models, and wrong for merged nodes.
    if (!options_.keeps_source_notes)
      if (const int64_t bytes = remove_source_notes(model); bytes > 0)
        observer_.on_source_notes_removed(bytes);
    cleanup(model);
  }

  void add(int64_t folded, int64_t flattened, int64_t casts) {
    totals_.folded += folded;
    totals_.flattened += flattened;
    totals_.casts += casts;
  }

  const SanitizeOptions& options_;
  FoldExtent extent_;
  FoldOptions fold_;
  AllowsEdit allows_edit_;
  SanitizeObserver& observer_;
  FoldTotals totals_;
  std::set<std::string> kept_;  ///< labels of nodes reported as not folded
};

/// The given model with changes that are not subject to proof: its outputs, bounds and input shapes.
std::shared_ptr<Model> original_of(const Model& given, const SanitizeOptions& options) {
  std::shared_ptr<Model> original = clone_model(given);
  if (options.bounds && options.infers) infer_known_shapes(*original, true);
  change_outputs(options, *original);
  if (options.bounds) set_upper_bounds(*original, *options.bounds);
  if (!options.input_shapes.empty()) override_input_shapes(*original, options.input_shapes);
  return original;
}

}  // namespace

ModelCensus::ModelCensus(const Model& model)
    : nodes(count_nodes(*model.graph)), bytes(serialized_size(model)) {
  const auto count = [&](const Graph& g) {
    for (const auto& n : g.nodes())
      ++operators[n->domain.empty() ? n->op_type : n->domain + "." + n->op_type];
  };
  count(*model.graph);
  for (const Graph* sub : subgraphs(*model.graph, /*recursive=*/true)) count(*sub);
}

std::shared_ptr<Model> sanitize(const std::shared_ptr<Model>& given, const SanitizeOptions& options,
                                SanitizeObserver& observer) {
  if (!options.proof) {
    Sanitizer(options, FoldExtent::kAll, nullptr, observer).run(given);
    return given;
  }
  const EquivalenceOptions equivalence = options.proof(*given);
  const std::shared_ptr<Model> original = original_of(*given, options);
  FoldTotals totals;
  const MakeModel make = [&](EditProof& proof, FoldExtent extent) {
    const std::shared_ptr<Model> model = clone_model(*given);
    Sanitizer sanitizer(
        options, extent, [&](const PassEdit& edit) { return proof.allows(edit); }, observer);
    sanitizer.run(model);
    totals = sanitizer.totals();
    return model;
  };
  observer.on_proof_begin();
  EditProof proof;
  const ProvenModel proven = make_proven(original, make, proof, equivalence);
  if (proven.model != nullptr) observer.on_changes(ModelCensus(*given), ModelCensus(*proven.model), totals);
  observer.on_proof_end(proven, proof);
  return proven.model;
}

}  // namespace assay
