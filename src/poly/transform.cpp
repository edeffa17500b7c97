#include "assay/transform.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/edit.h"
#include "assay/error.h"
#include "convert/convert_opset.h"
#include "graph/clone.h"
#include "naming/origins.h"
#include "naming/source_notes.h"
#include "ops/check.h"
#include "run/model_loader.h"
#include "run/proven_model.h"
#include "transform/simplify.h"

namespace assay::poly {
namespace {

/// Folds less after a failed proof.
FoldOptions limited(FoldOptions options, FoldExtent extent) {
  if (extent != FoldExtent::kAll) options.fold_shapes = false;
  if (extent != FoldExtent::kNone) return options;
  options.flatten_subgraphs = false;
  options.should_exclude_node = [](const Node&) { return true; };
  return options;
}

/// Edits the model, and records the edits in `done`.
void simplify_in_place(Model& model, const SimplifySettings& settings, FoldOptions fold,
                       const AllowsEdit& allows_edit, Simplified& done) {
  check_forms(model);
  if (settings.infer) infer_known_shapes(model, false);
  const SimplifyReport report = assay::simplify(
      model, {.fold = std::move(fold), .infer = settings.infer, .set = nullptr, .allows_edit = allows_edit});
  done.edits.clear();
  for (const PassReport& r : report.passes) done.edits.emplace_back(r.pass, r.edits);
  done.folded_nodes = report.folded_nodes;
  done.flattened_ifs = report.flattened_ifs;
  done.elided_casts = report.elided_casts;
  remove_origins(model);
  if (!settings.keep_node_metadata) remove_source_notes(model);
  cleanup(model);
  if (settings.infer) infer_known_shapes(model, false);
}

void require_inputs(const Model& model, const SimplifySettings& settings) {
  const auto& inputs = model.graph->inputs;
  for (const auto& [name, dims] : settings.shapes)
    if (std::none_of(inputs.begin(), inputs.end(), [&, &n = name](const Value* v) { return v->name() == n; }))
      fail(ErrorCode::kNotFound, "a shape is given for '{}', and the model has no such input", name);
}

EquivalenceOptions proof_options(const SimplifySettings& settings) {
  EquivalenceOptions options{
      .data = {}, .loaded = settings.data, .trials = settings.trials, .seconds = settings.seconds};
  for (const auto& [name, dims] : settings.shapes)
    options.data.shapes.push_back({.name = name, .dims = dims, .dtype = DType::kUndefined});
  options.data.shapes_option = "shapes";
  if (!settings.data.empty()) options.trials = 0;
  return options;
}

void simplify_with_proof(const std::shared_ptr<Model>& original, const SimplifySettings& settings,
                         Simplified& done) {
  require_inputs(*original, settings);
  const MakeModel make = [&](EditProof& proof, FoldExtent extent) {
    std::shared_ptr<Model> model = clone_model(*original);
    simplify_in_place(
        *model, settings, limited(settings.fold, extent),
        [&](const PassEdit& edit) { return proof.allows(edit); }, done);
    return model;
  };
  EditProof proof;
  ProvenModel proven = make_proven(original, make, proof, proof_options(settings));
  require(
      proven.model != nullptr, ErrorCode::kInternal,
      "the simplified model does not compute what the original does, with whatever edits are left out: {}",
      proven.comparison.difference);
  done.model = std::move(proven.model);
  done.is_proved = true;
  done.trials = proven.comparison.trials;
  done.proved_edits = proof.proved();
  for (const RefusedEdit& e : proof.refused()) done.refused.push_back({e.pass, e.node, e.reason});
  if (proven.fold != FoldExtent::kAll)
    done.refused.push_back({proven.fold == FoldExtent::kNone ? "constant folding" : "folding of shapes", "",
                            proven.fold_reason});
}

/// Everything that the requested version cannot express, in one sentence.
[[noreturn]] void refuse(const ConvertReport& report, int64_t wanted) {
  std::string places;
  int64_t nearest = report.problems.front().nearest;
  for (const ConvertProblem& p : report.problems) {
    places += fmt::format("{}{}", places.empty() ? "" : "; ", p.str(wanted));
    nearest = report.from > wanted ? std::max(nearest, p.nearest) : std::min(nearest, p.nearest);
  }
  Error error(ErrorCode::kUnsupported,
              fmt::format("what the model computes cannot be said in opset {}: {}", wanted, places));
  if (nearest != report.from) error.set_remedy(fmt::format("Convert it to opset {} instead.", nearest));
  throw error;
}

}  // namespace

Simplified simplify_model(const std::shared_ptr<Model>& model, const SimplifySettings& settings) {
  Simplified done;
  if (settings.prove) {
    simplify_with_proof(model, settings, done);
    return done;
  }
  done.model = clone_model(*model);
  simplify_in_place(*done.model, settings, settings.fold, {}, done);
  return done;
}

Converted convert_model_opset(const std::shared_ptr<Model>& model, int64_t version,
                              const std::string& domain) {
  Converted done{.model = clone_model(*model)};
  ConvertReport report = convert_opset(*done.model, {.domain = domain, .version = version, .on_added = {}});
  if (!report.problems.empty()) refuse(report, version);
  done.from = report.from;
  done.rewritten = report.rewritten;
  done.added = report.added;
  done.notes = std::move(report.notes);
  return done;
}

}  // namespace assay::poly
