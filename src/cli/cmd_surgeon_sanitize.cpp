// assay surgeon sanitize: cleans, folds and simplifies a model, and can prove equivalence.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "assay/inspect.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/model_figures.h"
#include "cli/options/data_loader.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "cli/values.h"
#include "console/equivalence_text.h"
#include "graph/clone.h"
#include "graph/metadata_text.h"
#include "inspect/viewer_match.h"
#include "run/model_loader.h"
#include "run/results.h"
#include "run/sanitize.h"
#include "run/script_parts.h"

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

FoldOptions read_fold_options(const ParsedArgs& args) {
  FoldOptions options;
  options.fold_shapes = !args.has("--no-fold-shapes");
  if (const auto bytes = args.text("--fold-size-threshold"))
    options.size_threshold = parse_byte_count(*bytes);
  return options;
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

std::vector<std::pair<std::string, Dims>> to_pairs(const std::vector<InputShape>& shapes) {
  std::vector<std::pair<std::string, Dims>> list;
  for (const InputShape& s : shapes) list.emplace_back(s.name, s.dims);
  return list;
}

/// Options of --prove.
EquivalenceOptions read_proof_options(const ParsedArgs& args, const Model& original) {
  DataOptions data = read_data_options(args, {});
  static EquivalenceText text;
  EquivalenceOptions options{.data = std::move(data.random), .observer = &text};
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

/// Logs the edits of the model.
class Narrator final : public SanitizeObserver {
 public:
  void on_bounds(const UpperBounds& bounds) override {
    std::string text;
    for (const auto& [name, value] : bounds)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", python_str_repr(name), value);
    log::info("Set tensor upper bounds: {{{}}}", text);
  }
  void on_begin(const Model& model) override { log_model("Original Model", model); }
  void on_input_shapes(const Model& model) override {
    MetadataText text;
    for (const Value* v : model.graph->inputs)
      text.add(v->name(), v->type.dtype, v->type.is_tensor() ? v->type.dims : std::nullopt);
    log::info("Overriding input shapes to:\n{}", text.str());
  }
  void on_settled(int64_t count) override {
    log::warning(
        "{} initializer(s) are no longer listed among the inputs, where a caller could replace them.", count);
  }
  void on_replaceable(int64_t count) override {
    log::warning(
        "{} initializer(s) are listed among the inputs, where a caller may replace them, so they are not "
        "taken for constants. --cleanup takes them off the list.",
        count);
  }
  void on_fold_begin(int64_t pass) override { log::start("Folding Constants | Pass {}", pass); }
  void on_fold_end(int64_t before, int64_t after) override {
    log::finish("    Total Nodes | Original: {:5}, After Folding: {:5} | {:5} Nodes Folded", before, after,
                before - after);
  }
  void on_too_large(const FoldReport::Kept& k) override {
    log::warning("Not folded: {}: {}.", k.node, k.reason);
  }
  void on_not_folded(const FoldReport::Kept& k) override {
    log::warning("Not folded: {}: {}", k.node, k.reason);
  }
  void on_simplified(const PassReport& r) override {
    log::info("Simplifying | {}: {} edit(s)", r.pass, r.edits);
  }
  void on_source_notes_removed(int64_t bytes) override {
    log::info(
        "{} bytes of doc strings and metadata of nodes and tensors are left out; --keep-node-metadata keeps "
        "them.",
        bytes);
  }
  void on_proof_begin() override {
    log::start(
        "Proving | Each edit, and the result, are compared with the original in float64 and in the declared "
        "types");
  }
  void on_changes(const ModelCensus& before, const ModelCensus& after, const FoldTotals& totals) override {
    log::info("Changes | {} node(s) -> {}, {} bytes -> {} | {} folded, {} If flattened, {} Cast elided",
              before.nodes, after.nodes, before.bytes, after.bytes, totals.folded, totals.flattened,
              totals.casts);
    std::map<std::string, int64_t> all = before.operators;
    all.insert(after.operators.begin(), after.operators.end());
    const log::Indent indent;
    for (const auto& [name, any] : all) {
      const auto count = [&, name = name](const ModelCensus& c) {
        const auto it = c.operators.find(name);
        return it == c.operators.end() ? 0 : it->second;
      };
      if (count(before) != count(after)) log::info("{}: {} -> {}", name, count(before), count(after));
    }
  }
  void on_proof_end(const ProvenModel& proven, const EditProof& proof) override {
    report_left_out(proven, proof);
    const Equivalence& whole = proven.comparison;
    for (const auto& [kind, reason] : whole.not_done)
      log::info("Proving | No trial with {}: {}", kind, reason);
    if (whole.open > 0)
      log::info(
          "Proving | {} of {} element(s) are left open: the original is NaN there, or leaves the range of "
          "its "
          "types on the way",
          whole.open, whole.elements);
    log::info(
        "Proving | {} trial(s) of the whole model in {:.1f} s | {} edit(s) proved by themselves, in {} "
        "trial(s) and {:.1f} s; {} left to the whole",
        whole.trials, whole.seconds, proof.proved(), proof.trials(), proof.seconds(), proof.undecided());
    if (proven.model == nullptr)
      log::critical(
          ErrorCode::kInternal,
          "The result does not compute what the original does, with whatever edits are left out, and is "
          "not saved: {}.",
          whole.difference);
    const size_t left_out = proof.refused().size() + (proven.fold != FoldExtent::kAll ? 1 : 0);
    if (left_out > 0)
      log::warning("Proving | PASSED without {} edit(s), which are left out of the model and named above",
                   left_out);
    else
      log::finish("Proving | PASSED | All outputs agree");
  }

 private:
  static void report_left_out(const ProvenModel& proven, const EditProof& proof) {
    for (const RefusedEdit& e : proof.refused())
      log::warning("Proving | Left out: the edit of pass {}{}: {}.", e.pass,
                   e.node.empty() ? "" : " at " + e.node, e.reason);
    if (proven.fold != FoldExtent::kAll)
      log::warning("Proving | Left out: {}: {}.",
                   proven.fold == FoldExtent::kNone ? "constant folding" : "folding of shapes",
                   proven.fold_reason);
  }
};

SanitizeOptions read_options(const ParsedArgs& args, const ModelOptions& model,
                             const Registries& registries) {
  SanitizeOptions options;
  options.outputs = args.list("--outputs");
  options.marks_all = means_all_tensors(options.outputs);
  options.output_types = args.list("--outputs-by-type").value_or(std::vector<std::string>());
  options.exclude_outputs = args.list("--exclude-outputs");
  options.bounds = read_bounds(args);
  options.input_shapes = to_pairs(model.input_shapes);
  if (args.has("--force-fallback-shape-inference"))
    options.observed_data = [&args, &model] {
      return input_cache(read_data_options(args, model.input_shapes));
    };
  options.cleans = args.has("--cleanup");
  options.sorts = args.has("--toposort");
  options.infers = !args.has("--no-shape-inference") && !args.has("--force-fallback-shape-inference");
  options.simplifies = args.has("--simplify");
  options.folds = options.simplifies || args.has("--fold-constants");
  options.fold = read_fold_options(args);
  options.max_folds = args.integer("--num-passes").value_or(options.max_folds);
  options.infers_between_folds =
      !args.has("--no-shape-inference") && !args.has("--no-per-pass-shape-inference");
  options.passes = registries.passes;
  options.keeps_source_notes = args.has("--keep-node-metadata");
  if (args.has("--prove"))
    options.proof = [&args](const Model& original) { return read_proof_options(args, original); };
  return options;
}

/// Figures of the model before and after, and both graphs next to each other.
void fill(ReportPage& page, const ParsedArgs& args, const std::vector<FigureRow>& figures,
          const std::shared_ptr<Model>& before, const std::shared_ptr<Model>& after) {
  infer_known_shapes(*before, /*report=*/false);
  infer_known_shapes(*after, /*report=*/false);
  ReportTable table{.title = "Before and after", .columns = {{"what"}, {"before"}, {"after"}, {"change"}}};
  for (const FigureRow& r : figures) table.rows.push_back({r.name, r.before, r.after, r.change});
  page.report().sections.emplace_back(std::move(table));
  page.report().matching = match_models(*before, *after);
  page.show(before, args.text("model_file").value_or(""));
  page.show(after, args.text("-o").value_or("after"));
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions options = read_model_options(args);
  const SanitizeOptions sanitizing = read_options(args, options, context.registries());
  context.announce();
  if (!sanitizing.folds) warn_of_pointless_options(args);
  const auto load = [&] { return load_onnx_model(args, options.path, context.registries().ops); };
  ReportPage* page = context.report_page();
  const bool is_upstream = args.is_upstream();
  const std::optional<ModelFigures> before = is_upstream && page == nullptr ? std::nullopt : figures_of(load);
  std::shared_ptr<Model> model = load();
  // The command edits its model in place, so the page has one of its own.
  const std::shared_ptr<Model> shown = page != nullptr ? load() : nullptr;
  Narrator narrator;
  edit(options.path, [&] { model = sanitize(model, sanitizing, narrator); });
  save_edited_model(args, *model);
  std::vector<FigureRow> figures;
  if (before)
    if (const auto after = figures_of([&] { return clone_model(*model); }))
      figures = figure_rows(*before, *after);
  if (!figures.empty() && !is_upstream) log::info("{}", figures_text(figures));
  if (page != nullptr) fill(*page, args, figures, shown, model);
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
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_surgeon_sanitize
