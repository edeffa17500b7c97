// assay surgeon sanitize: cleans, folds and simplifies a model, and can prove that it computes the same.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "assay/edit.h"
#include "assay/fold.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/data_loader.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "graph/clone.h"
#include "graph/export.h"
#include "graph/metadata_text.h"
#include "graph/order.h"
#include "naming/origins.h"
#include "naming/source_notes.h"
#include "ops/check.h"
#include "run/equivalence.h"
#include "run/observed_types.h"
#include "run/proven_model.h"
#include "run/results.h"
#include "run/script_parts.h"
#include "surgeon/contradiction.h"
#include "surgeon/input_shapes.h"
#include "surgeon/upper_bound.h"
#include "transform/mark_outputs.h"
#include "transform/simplify.h"

namespace assay::cli::command_surgeon_sanitize {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(
      parser, /*is_required=*/true,
      "New shapes for the model's inputs, as in image:['batch',3,224,224]. A tensor that is not an "
      "input becomes one.",
      {"--override-input-shapes", "--override-inputs"}, Names::kTensors);
  add_data_loader_options(parser);
  add_onnx_shape_inference_options(parser, InferenceOptions::kOnFallback);
  OptionGroup& load = add_onnx_load_options(parser, /*can_change_outputs=*/false);
  for (const Option& o : std::initializer_list<Option>{
           {.names = {"--outputs"},
  .help = "Tensors to use as the model's outputs: names or patterns; '*' alone means every tensor.",
  .arity = Arity::kAtLeastOne,
  .metavar = "NAME",
  .names_what = Names::kTensors},
           {.names = {"--outputs-by-type"},
           .help = "Use what nodes with these operators compute as the model's outputs; with --outputs, "
                   "besides those.",
           .arity = Arity::kAtLeastOne,
           .metavar = "OPERATOR"},
           {.names = {"--exclude-outputs"},
           .help = "Outputs to leave out.",
           .arity = Arity::kAtLeastOne,
           .metavar = "NAME",
           .names_what = Names::kTensors},
           {.names = {"--set-unbounded-dds-upper-bound"},
           .help = "Bounds for values that decide how large tensors become: `tensor:bound`, or a bound for "
                   "all such tensors. Where "
                   "constants must be folded to see them, fold first and call this a second time.",
           .arity = Arity::kAtLeastOne,
           .metavar = "[NAME:]BOUND",
           .names_what = Names::kTensors}})
    load.options.push_back(o);
  add_onnx_output_options(parser);
  parser.add_group("Cleaning").options = {
      {.names = {"--cleanup"},
       .help =
           "Remove what does not contribute to the outputs, and take initializers off the list of inputs.",
       .arity = Arity::kNone},
      {.names = {"--toposort"}, .help = "Sort the nodes topologically.", .arity = Arity::kNone},
      {.names = {"--simplify"},
       .help =
           "Also remove and merge what does not change results beyond rounding: nodes that do nothing, equal "
           "nodes and weights, chains of views, slices and transpositions, computed shapes that the extents "
           "decide; batch normalisations, channel-wise factors and paddings go into the layers next to them, "
           "formulas become the operators that the model's opset has for them. Doc strings and metadata of "
           "nodes "
           "are left out. Implies --fold-constants.",
       .arity = Arity::kNone},
      {.names = {"--keep-node-metadata"},
       .help = "With --simplify: keep doc strings and metadata of nodes and of the tensors between them, as "
               "exporters "
               "write them; they say where a node comes from, also of nodes that were merged into others.",
       .arity = Arity::kNone},
      {.names = {"--prove"},
       .help = "Look for data on which the result differs from the original, of both signs, near constants, "
               "large, tiny and special, with several sizes where shapes are open; first for each edit by "
               "itself. Edits that fail are named and left out, and what is saved is proved. The exit status "
               "is then 0, with a warning; it is 1, and nothing is saved, when nothing that agrees is left.",
       .arity = Arity::kNone},
      {.names = {"--prove-input-shapes"},
       .help = "Shapes for the data of --prove, as in image:[4,3,224,224].",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME:SHAPE",
       .names_what = Names::kInputs},
  };
  parser.add_group("Constant Folding").options = {
      {.names = {"--fold-constants"},
       .help = "Compute now what does not depend on the inputs.",
       .arity = Arity::kNone},
      {.names = {"--num-passes", "--num-const-fold-passes"},
       .help = "So many passes; default: until nothing changes.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--partitioning"},
       .help = "Accepted; nodes are evaluated one by one, so one that cannot be does not keep others from "
               "being folded.",
       .choices = {"basic", "recursive"}},
      {.names = {"--no-fold-shapes"},
       .help = "Leave Shape nodes and what is computed from them.",
       .arity = Arity::kNone},
      {.names = {"--no-per-pass-shape-inference"},
       .help = "Do not infer shapes between passes.",
       .arity = Arity::kNone},
      {.names = {"--fold-size-threshold"},
       .help = "Results of more bytes stay computed. Default: a fold that makes the model larger by more "
               "than 4 MiB is not done.",
       .metavar = "BYTES"},
  };
}

void warn_of_pointless_options(const ParsedArgs& args) {
  for (const char* name : {"--num-passes", "--partitioning", "--no-fold-shapes",
                           "--no-per-pass-shape-inference", "--fold-size-threshold"})
    if (args.has(name))
      log::warning(
          "Argument: '{}' will be ignored since constant folding is not enabled.\n"
          "This argument is only meaningful when `--fold-constants` is also set.",
          name);
}

struct FoldTotals {
  int64_t folded = 0, flattened = 0, casts = 0;
};

FoldOptions read_fold_options(const ParsedArgs& args) {
  FoldOptions options;
  options.fold_shapes = !args.has("--no-fold-shapes");
  if (const auto bytes = args.text("--fold-size-threshold"))
    options.size_threshold = parse_byte_count(*bytes);
  return options;
}

/// With less folded, for a proof that failed.
FoldOptions limited(FoldOptions options, FoldExtent extent) {
  if (extent != FoldExtent::kAll) options.fold_shapes = false;
  if (extent != FoldExtent::kNone) return options;
  options.flatten_subgraphs = false;
  options.should_exclude_node = [](const Node&) { return true; };
  return options;
}

void fold(const ParsedArgs& args, const FoldOptions& options, Model& model, FoldTotals& totals) {
  const bool infers =
      options.fold_shapes && !args.has("--no-shape-inference") && !args.has("--no-per-pass-shape-inference");
  const int64_t passes = args.integer("--num-passes").value_or(std::numeric_limits<int64_t>::max());
  std::map<std::string, std::string> kept;
  for (int64_t pass = 1; pass <= passes; ++pass) {
    log::start("Folding Constants | Pass {}", pass);
    const int64_t before = count_nodes(*model.graph);
    const FoldReport report = fold_constants(model, options);
    cleanup(model);
    const int64_t after = count_nodes(*model.graph);
    log::finish("    Total Nodes | Original: {:5}, After Folding: {:5} | {:5} Nodes Folded", before, after,
                before - after);
    totals.folded += report.folded_nodes;
    totals.flattened += report.flattened_ifs;
    totals.casts += report.elided_casts;
    for (const FoldReport::Kept& k : report.too_large)
      if (kept.emplace(k.node, k.reason).second) log::warning("Not folded: {}: {}.", k.node, k.reason);
    for (const FoldReport::Kept& k : report.failed)
      if (kept.emplace(k.node, k.reason).second) log::warning("Not folded: {}: {}", k.node, k.reason);
    if (after == before) break;
    if (infers) infer_known_shapes(model, true);
  }
}

/// From IR version 4 on a caller may replace initializers that are listed among the inputs.
bool is_replaceable(const Model& model, const Value& v) { return model.ir_version >= 4 && v.is_overridable; }

/// As Polygraphy does: hardly anybody replaces them, and nothing can be done with them as long as somebody
/// may.
void settle_initializers(Model& model) {
  int64_t count = 0;
  for (const auto& v : model.graph->values()) {
    if (!is_replaceable(model, *v)) continue;
    v->is_overridable = false;
    ++count;
  }
  if (count > 0)
    log::warning(
        "{} initializer(s) are no longer listed among the inputs, where a caller could replace them.", count);
}

/// What keeps the simplifier from its work is said.
void warn_of_replaceable(const Model& model) {
  const auto& values = model.graph->values();
  const auto count =
      std::count_if(values.begin(), values.end(), [&](const auto& v) { return is_replaceable(model, *v); });
  if (count > 0)
    log::warning(
        "{} initializer(s) are listed among the inputs, where a caller may replace them, so they are not "
        "taken for "
        "constants. --cleanup takes them off the list.",
        count);
}

void simplify(Model& model, const SimplifyOptions& options, FoldTotals& totals) {
  warn_of_replaceable(model);
  const SimplifyReport report = assay::simplify(model, options);
  for (const PassReport& r : report.passes) log::info("Simplifying | {}: {} edit(s)", r.pass, r.edits);
  totals.folded += report.folded_nodes;
  totals.flattened += report.flattened_ifs;
  totals.casts += report.elided_casts;
  remove_origins(model);
}

/// Where nodes come from is a large part of small models, and no longer true of nodes that were merged.
void drop_source_notes(Model& model) {
  if (const int64_t bytes = remove_source_notes(model); bytes > 0)
    log::info(
        "{} bytes of doc strings and metadata of nodes and tensors are left out; --keep-node-metadata keeps "
        "them.",
        bytes);
}

void change_outputs(const ParsedArgs& args, Model& model) {
  if (const auto names = args.list("--outputs")) {
    if (means_all_tensors(names))
      mark_all_outputs(model);
    else
      mark_outputs(model, *names);
  }
  if (const auto types = args.list("--outputs-by-type"))
    mark_outputs_by_type(model, *types, /*add=*/args.has("--outputs"));
  if (const auto names = args.list("--exclude-outputs")) unmark_outputs(model, *names);
}

/// Nothing without the option.
std::optional<UpperBounds> read_bounds(const ParsedArgs& args) {
  const auto words = args.list("--set-unbounded-dds-upper-bound");
  if (!words) return std::nullopt;
  UpperBounds bounds;
  for (const auto& [name, value] : parse_key_numbers("--set-unbounded-dds-upper-bound", *words))
    bounds.emplace_back(name, value.as_int());
  return bounds;
}

void set_bounds(Model& model, const UpperBounds& bounds) {
  std::string text;
  for (const auto& [name, value] : set_upper_bounds(model, bounds))
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", python_str_repr(name), value);
  log::info("Set tensor upper bounds: {{{}}}", text);
}

std::vector<std::pair<std::string, Dims>> to_pairs(const std::vector<InputShape>& shapes) {
  std::vector<std::pair<std::string, Dims>> list;
  for (const InputShape& s : shapes) list.emplace_back(s.name, s.dims);
  return list;
}

void override_shapes(Model& model, const std::vector<InputShape>& shapes) {
  if (shapes.empty()) return;
  const std::shared_ptr<Model> before = clone_model(model);
  override_input_shapes(model, to_pairs(shapes));
  require_possible(*before, model, "the shapes that --override-input-shapes gives");
  MetadataText text;
  for (const Value* v : model.graph->inputs)
    text.add(v->name(), v->type.dtype, v->type.is_tensor() ? v->type.dims : std::nullopt);
  log::info("Overriding input shapes to:\n{}", text.str());
}

/// What is compared before and after.
struct Census {
  int64_t nodes = 0;
  size_t bytes = 0;
  std::map<std::string, int64_t> operators;

  explicit Census(const Model& m) : nodes(count_nodes(*m.graph)), bytes(serialized_size(m)) {
    count(*m.graph);
    for (const Graph* sub : subgraphs(*m.graph, /*recursive=*/true)) count(*sub);
  }

 private:
  void count(const Graph& g) {
    for (const auto& n : g.nodes())
      ++operators[n->domain.empty() ? n->op_type : n->domain + "." + n->op_type];
  }
};

void report_changes(const Census& before, const Census& after, const FoldTotals& totals) {
  log::info("Changes | {} node(s) -> {}, {} bytes -> {} | {} folded, {} If flattened, {} Cast elided",
            before.nodes, after.nodes, before.bytes, after.bytes, totals.folded, totals.flattened,
            totals.casts);
  std::map<std::string, int64_t> all = before.operators;
  all.insert(after.operators.begin(), after.operators.end());
  const log::Indent indent;
  for (const auto& [name, any] : all) {
    const auto count = [&, name = name](const Census& c) {
      const auto it = c.operators.find(name);
      return it == c.operators.end() ? 0 : it->second;
    };
    if (count(before) != count(after)) log::info("{}: {} -> {}", name, count(before), count(after));
  }
}

/// What --prove is to look for.
EquivalenceOptions read_proof_options(const ParsedArgs& args, const Model& original) {
  DataOptions data = read_data_options(args, {});
  EquivalenceOptions options{.data = std::move(data.random)};
  for (const std::string& path : data.load_inputs)
    for (const StoredTensorList& feed : load_inputs(path)) options.loaded.push_back(load_all(feed));
  if (data.script) {
    const std::shared_ptr<DataSource> source = script_data(*data.script);
    source->begin(tensor_infos(original.graph->inputs));
    while (std::optional<TensorList> feed = source->next()) options.loaded.push_back(*std::move(feed));
    require(!options.loaded.empty(), ErrorCode::kInvalidArgument,
            "{} gave no data, so that there is nothing to prove on", data.script->str());
  }
  if (!options.loaded.empty()) options.trials = 0;
  if (const auto words = args.list("--prove-input-shapes"))
    options.data.shapes = parse_input_shapes("--prove-input-shapes", *words);
  return options;
}

/// What the proof left out of the model, and what it rests on.
void report_proof(const ProvenModel& proven, const EditProof& proof) {
  for (const RefusedEdit& e : proof.refused())
    log::warning("Proving | Left out: the edit of pass {}{}: {}.", e.pass,
                 e.node.empty() ? "" : " at " + e.node, e.reason);
  if (proven.fold != FoldExtent::kAll)
    log::warning("Proving | Left out: {}: {}.",
                 proven.fold == FoldExtent::kNone ? "constant folding" : "folding of shapes",
                 proven.fold_reason);
  const Equivalence& whole = proven.comparison;
  for (const auto& [kind, reason] : whole.not_done) log::info("Proving | No trial with {}: {}", kind, reason);
  if (whole.open > 0)
    log::info(
        "Proving | {} of {} element(s) are left open: the original is NaN there, or leaves the range of its "
        "types on the way",
        whole.open, whole.elements);
  log::info(
      "Proving | {} trial(s) of the whole model in {:.1f} s | {} edit(s) proved by themselves, in {} "
      "trial(s) "
      "and {:.1f} s; {} left to the whole",
      whole.trials, whole.seconds, proof.proved(), proof.trials(), proof.seconds(), proof.undecided());
}

/// The options of the command line, and how much of it may be done.
struct Editing {
  const Registries& registries;
  const ParsedArgs& args;
  const ModelOptions& options;
  const std::optional<UpperBounds>& bounds;
  bool folds, infers;
};

void edit_model(const Editing& e, const std::shared_ptr<Model>& model, FoldTotals& totals,
                const FoldOptions& fold_options, FoldExtent extent,
                const std::function<bool(const PassEdit&)>& allows_edit) {
  const ParsedArgs& args = e.args;
  edit(e.options.path, [&] {
    if (e.folds) check_forms(*model);
    if (e.infers) infer_known_shapes(*model, true);
    change_outputs(args, *model);
    if (e.bounds) set_bounds(*model, *e.bounds);
  });
  log_model("Original Model", *model);
  edit(e.options.path, [&] {
    override_shapes(*model, e.options.input_shapes);
    if (args.has("--force-fallback-shape-inference"))
      observe_types(model, input_cache(read_data_options(args, e.options.input_shapes)));
    if (args.has("--cleanup")) {
      settle_initializers(*model);
      cleanup(*model);
    }
    if (args.has("--toposort")) toposort(*model);
    if (e.infers && !e.options.input_shapes.empty()) infer_known_shapes(*model, true);
    if (e.folds && extent != FoldExtent::kNone) fold(args, fold_options, *model, totals);
    if (args.has("--simplify")) {
      simplify(
          *model,
          {.fold = fold_options, .infer = e.infers, .set = e.registries.passes, .allows_edit = allows_edit},
          totals);
      if (!args.has("--keep-node-metadata")) drop_source_notes(*model);
      cleanup(*model);
    }
    if (e.infers) infer_known_shapes(*model, true);
  });
}

/// The model with all edits that are proved.
std::shared_ptr<Model> edit_and_prove(const Editing& e, const std::shared_ptr<Model>& loaded) {
  const std::shared_ptr<Model> original = clone_model(*loaded);
  const EquivalenceOptions options = read_proof_options(e.args, *original);
  if (e.bounds && e.infers) infer_known_shapes(*original, true);
  change_outputs(e.args, *original);
  if (e.bounds) set_upper_bounds(*original, *e.bounds);
  if (!e.options.input_shapes.empty()) override_input_shapes(*original, to_pairs(e.options.input_shapes));
  FoldTotals totals;
  const MakeModel make = [&](EditProof& proof, FoldExtent extent) {
    totals = {};
    const std::shared_ptr<Model> model = clone_model(*loaded);
    edit_model(e, model, totals, limited(read_fold_options(e.args), extent), extent,
               [&](const PassEdit& edit) { return proof.allows(edit); });
    return model;
  };
  log::start(
      "Proving | Each edit, and the result, are compared with the original in float64 and in the declared "
      "types");
  EditProof proof;
  const ProvenModel proven = make_proven(original, make, proof, options);
  if (proven.model != nullptr) report_changes(Census(*loaded), Census(*proven.model), totals);
  report_proof(proven, proof);
  if (proven.model == nullptr)
    log::critical(
        ErrorCode::kInternal,
        "The result does not compute what the original does, with whatever edits are left out, and is "
        "not saved: {}.",
        proven.comparison.difference);
  const size_t left_out = proof.refused().size() + (proven.fold != FoldExtent::kAll ? 1 : 0);
  if (left_out > 0)
    log::warning("Proving | PASSED without {} edit(s), which are left out of the model and named above",
                 left_out);
  else
    log::finish("Proving | PASSED | All outputs agree");
  return proven.model;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions options = read_model_options(args);
  const std::optional<UpperBounds> bounds = read_bounds(args);
  const Editing editing{context.registries(),
                        args,
                        options,
                        bounds,
                        args.has("--fold-constants") || args.has("--simplify"),
                        !args.has("--no-shape-inference") && !args.has("--force-fallback-shape-inference")};
  context.announce();
  if (!editing.folds) warn_of_pointless_options(args);
  std::shared_ptr<Model> model = load_onnx_model(args, options.path, context.registries().ops);
  FoldTotals totals;
  if (args.has("--prove"))
    model = edit_and_prove(editing, model);
  else
    edit_model(editing, model, totals, read_fold_options(args), FoldExtent::kAll, nullptr);
  save_edited_model(args, *model);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "sanitize",
    .summary = "Clean up, fold constants, simplify, and prove that nothing changed.",
    .description =
        "Cleans up a model, folds its constants, simplifies it, overrides the shapes of its inputs or its "
        "outputs. With --prove the "
        "result is saved only if it computes what the original does.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_surgeon_sanitize
