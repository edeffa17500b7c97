// assay debug reduce: finds the smallest model that still fails.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/edit.h"
#include "assay/inspect.h"
#include "assay/io.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/gen_script/failure_programs.h"
#include "cli/model_editing.h"
#include "cli/options/data_loader.h"
#include "cli/options/iterations.h"
#include "cli/options/layers.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "debug/reduction_json.h"
#include "graph/order.h"
#include "passes/pass_list.h"
#include "run/model_saver.h"
#include "run/observed_types.h"
#include "run/results.h"
#include "run/test_case.h"
#include "surgeon/input_shapes.h"

namespace assay::cli::command_debug_reduce {
namespace {

constexpr const char* kCandidate = "polygraphy_debug.onnx";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_iteration_options(parser,
                        {.candidate = kCandidate, .has_journal = true, .has_jobs = true, .has_repeat = true});
  add_model_options(parser, /*is_required=*/true,
                    "Shapes that the model's inputs get, as in image:[1,3,224,224].",
                    {"--model-input-shapes", "--model-inputs"});
  add_onnx_output_options(parser, /*is_required=*/false);
  add_onnx_shape_inference_options(parser, InferenceOptions::kOnFallback);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_data_loader_options(parser);
  parser.add_group("Reduction").options = {
      {.names = {"--min-good", "--minimal-good"},
       .help = "Where to save a model of about the size of the result that does not fail, if one was found.",
       .metavar = "FILE"},
      {.names = {"--no-reduce-inputs"},
       .help = "Leave the inputs as they are: find the earliest outputs that fail. Uses bisect, unless "
               "linear is asked for.",
       .arity = Arity::kNone,
       .exclusive = "ends"},
      {.names = {"--no-reduce-outputs"},
       .help = "Leave the outputs as they are: find the latest inputs that fail. Uses bisect, unless linear "
               "is asked for.",
       .arity = Arity::kNone,
       .exclusive = "ends"},
      {.names = {"--mode"},
       .help = "How to search. subsets: any nodes, by delta debugging, then bodies, outputs, attributes and "
               "extents, for the same "
               "failure as the whole model's. bisect, linear: Polygraphy's, over the place where the model "
               "ends, then where it begins. "
               "Default: subsets; under the name polygraphy bisect.",
       .choices = {"subsets", "bisect", "linear"}},
      {.names = {"--anonymise", "--anonymize"},
       .help = "In mode subsets: put generated names and random weights in place of the model's own, as "
               "far as the failure stays, so "
               "that the result can be passed on.",
       .arity = Arity::kNone},
      {.names = {"--test-case"},
       .help = "Also save the smallest model with inputs and the outputs that float64 gives for them, as a "
               "folder in the layout of ONNX's test cases. The inputs are those that the network has there, "
               "where they fit; with --anonymise all are drawn.",
       .metavar = "DIR"},
      {.names = {"--programs"},
       .help = "Also save the smallest model, such inputs, and programs in C++ and Python that run it on the "
               "backends that the check names and on the reference.",
       .metavar = "DIR"},
      {.names = {"--json"}, .help = "Also write the result to this file.", .metavar = "FILE"},
      {.names = {"--any-failure"},
       .help = "In mode subsets: take every failure for the one that is looked for, not only that of the "
               "whole model.",
       .arity = Arity::kNone},
  };
}

debug::ReductionMode read_mode(const ParsedArgs& args) {
  const bool has_ends = args.has("--no-reduce-inputs") || args.has("--no-reduce-outputs");
  const std::string mode =
      args.text("--mode").value_or(args.is_upstream() || has_ends ? "bisect" : "subsets");
  for (const char* option : {"--any-failure", "--anonymise", "--journal", "--resume", "--jobs", "--repeat"})
    if (mode != "subsets" && args.has(option))
      log::critical(ErrorCode::kInvalidArgument, "{} is for --mode subsets; --mode is {}.", option, mode);
  if (mode == "subsets" && has_ends)
    log::critical(ErrorCode::kInvalidArgument,
                  "--mode subsets takes no --no-reduce-inputs and no --no-reduce-outputs.");
  return mode == "subsets"  ? debug::ReductionMode::kSubsets
         : mode == "bisect" ? debug::ReductionMode::kBisect
                            : debug::ReductionMode::kLinear;
}

bool is_open(const Type& type) {
  return type.is_tensor() && (!type.dims || std::any_of(type.dims->begin(), type.dims->end(),
                                                        [](const Dim& d) { return !d.is_known(); }));
}

/// Warns of limitations with such a model.
void warn_about(const Model& model, const ParsedArgs& args) {
  const Graph& g = *model.graph;
  if (std::any_of(g.inputs.begin(), g.inputs.end(), [](const Value* v) { return is_open(v->type); })) {
    log::warning(
        "This model uses dynamic input shapes.\n"
        "You may want to provide input shapes to `debug reduce` using the "
        "`--model-input-shapes` option to prevent unexpected behavior.\n");
  } else if (std::any_of(g.values().begin(), g.values().end(),
                         [](const auto& v) { return !v->is_constant() && is_open(v->type); })) {
    if (args.has("--no-shape-inference"))
      log::warning(
          "Shape inference was not run on this model.\n"
          "You may want to enable shape inference to freeze the shapes of intermediate tensors to prevent "
          "unexpected behavior.");
    else
      log::warning(
          "ONNX shape inference was unable to infer some shapes in this model.\n"
          "You may want to use `--force-fallback-shape-inference` to freeze the shapes of intermediate "
          "tensors to prevent unexpected "
          "behavior.");
  }
  if (std::any_of(g.nodes().begin(), g.nodes().end(),
                  [](const auto& n) { return n->op_type == "Shape" && n->domain.empty(); }))
    log::warning(
        "This model includes shape operations, which may cause issues while reducing.\n"
        "You may want to freeze the input shapes and fold the shape operations away with:\n"
        "    `polygraphy surgeon sanitize --override-input-shapes <shapes> --fold-constants "
        "[--force-fallback-shape-inference]`\n"
        "You only need to use `--force-fallback-shape-inference` if ONNX shape inference is unable to infer "
        "shapes.");
}

/// Finds the element types that are not known, without which a part can neither begin nor end at a value.
/// Shapes stay as they are.
void infer_element_types(Model& model) {
  std::vector<std::pair<Value*, Type>> before;
  for (const auto& v : model.graph->values()) before.emplace_back(v.get(), v->type);
  infer_known_shapes(model, false);
  for (auto& [value, type] : before) {
    const bool was_known =
        type.kind != Type::Kind::kUnknown && !(type.is_tensor() && type.dtype == DType::kUndefined);
    if (was_known)
      value->type = type;
    else if (value->type.is_tensor())
      value->type.dims.reset();
  }
}

/// The model from which parts are extracted.
std::shared_ptr<Model> load(CommandContext& context, const ModelOptions& options) {
  const ParsedArgs& args = context.args();
  const std::shared_ptr<Model> model = load_onnx_model(args, options.path, context.registries().ops);
  edit(options.path, [&] {
    if (!options.input_shapes.empty()) {
      std::vector<std::pair<std::string, Dims>> shapes;
      for (const InputShape& s : options.input_shapes) shapes.emplace_back(s.name, s.dims);
      override_input_shapes(*model, shapes);
    }
    pass_constants_to_initializers::def.run(*model);
    sort_topologically(*model->graph);
    if (!args.has("--no-shape-inference"))
      infer_known_shapes(*model, false);
    else if (read_mode(args) == debug::ReductionMode::kSubsets)
      infer_element_types(*model);
    if (args.has("--force-fallback-shape-inference")) {
      log::info("Freezing shapes in the model according to values determined by fallback shape inference");
      observe_types(model, input_cache(read_data_options(args, options.input_shapes)));
    }
  });
  return model;
}

debug::SearchIdentity identity_of(const ParsedArgs& args, const ModelOptions& model) {
  debug::SearchIdentity identity = {
      {"command", "debug reduce"}, {"model", model.path}, {"the model's file", file_identity(model.path)}};
  for (const char* option : {"--check", "--fail-code", "--ignore-fail-code", "--fail-regex",
                             "--model-input-shapes", "--any-failure", "--repeat", "--iter-artifact",
                             "--no-shape-inference", "--force-fallback-shape-inference"})
    if (args.has(option))
      identity.emplace_back(
          option, fmt::format("{}", fmt::join(args.list(option).value_or(std::vector<std::string>()), " ")));
  return identity;
}

/// The outcome of the search, for mode subsets.
void log_summary(const debug::Reduction& result, const debug::Iterations& iterations, size_t nodes,
                 const std::string& output, bool anonymised) {
  const Graph& g = *result.bad->graph;
  std::string text = fmt::format("{} of {} node(s) fail in the same way as the whole model: {}",
                                 g.nodes().size(), nodes, result.failure);
  constexpr size_t kMost = 10;
  for (size_t i = 0; i < std::min(kMost, g.nodes().size()); ++i) text += "\n" + g.nodes()[i]->label();
  if (g.nodes().size() > kMost) text += fmt::format("\nand {} more", g.nodes().size() - kMost);
  text += fmt::format("\n{} check(s) were made.", iterations.checks());
  if (anonymised)
    text += fmt::format(" {}, and {} weight(s) are the model's own.",
                        result.has_own_names ? "Its names are needed and stay" : "All names are generated",
                        result.own_weights == 0 ? std::string("no") : std::to_string(result.own_weights));
  if (!output.empty()) text += fmt::format(" The model is in {}.", output);
  log::info("{}", text);
  if (result.is_flaky && result.failed_runs > 0)
    log::warning("The failure comes and goes: the result failed in {} of {} runs of its last check.",
                 result.failed_runs, result.runs);
  else if (result.is_flaky)
    log::warning(
        "The result passed when it was checked once more: the failure comes and goes. --repeat checks each "
        "candidate several times.");
}

/// The values that the inputs of the smallest model have in the whole one.
TensorList values_there(const std::shared_ptr<Model>& model, const Model& part, const DataOptions& data) {
  TensorList found;
  try {
    const log::Indent inner;
    observe_values(model, input_cache(data), [&](const std::string& name, const Tensor& value) {
      if (const Value* v = part.graph->find_value(name); v != nullptr && v->producer() == nullptr)
        found.push_back({name, value});
    });
  } catch (const Error& e) {
    log::warning("The whole model cannot be evaluated, so inputs of the test case are drawn: {}", e.what());
  }
  return found;
}

TestCase test_case_of(const ParsedArgs& args, const std::shared_ptr<Model>& model, const Model& part,
                      const ModelOptions& options) {
  const DataOptions data = read_data_options(args, options.input_shapes);
  const TensorList given = args.has("--anonymise") ? TensorList() : values_there(model, part, data);
  return make_test_case(part, given, data.random);
}

void save_case(const TestCase& test, const std::string& folder) {
  log::info("Saving the test case to {}", folder);
  save_test_case(test, folder);
  if (test.outputs.empty())
    log::warning("The outputs of the test case are not known: {}", test.outputs_problem);
}

/// Those that the check's options name, and the reference.
std::vector<std::string> backends_of_check(const ParsedArgs& args, const BackendSet& backends) {
  const std::vector<std::string> words = args.list("--check").value_or(std::vector<std::string>());
  std::vector<std::string> names;
  for (const Backend* backend : backends.all())
    if (!backend->is_oracle && std::find(words.begin(), words.end(), flag_of(*backend)) != words.end())
      names.emplace_back(backend->name);
  if (names.empty()) names.emplace_back("engine");
  names.emplace_back("reference");
  return names;
}

void save_programs(const CommandContext& context, const TestCase& test, const std::string& failure,
                   const std::string& folder) {
  log::info("Saving programs that show the failure to {}", folder);
  const std::filesystem::path root(folder);
  const FailureProgram program{.failure = failure,
                               // Of the user's files it has the names.
                               .command = context.args().has("--anonymise")
                                              ? std::string("assay debug reduce --anonymise")
                                              : context.invocation().command_line,
                               .backends = backends_of_check(context.args(), context.registries().backends),
                               .model = "model.onnx",
                               .inputs = "inputs.json"};
  save_model(*test.model, (root / program.model).string(), {});
  save_inputs(std::vector<TensorList>{test.inputs}, (root / program.inputs).string());
  const auto save = [&](const char* name, const std::string& text) {
    AtomicFile file((root / name).string());
    file.write(text);
    file.commit();
  };
  save("show.cpp", failure_program_cpp(program, "show.cpp"));
  save("show.py", failure_program_python(program));
}

/// The models that the user asks for; empty paths: not asked for.
struct Wanted {
  std::string bad, good;
};

Wanted read_wanted(const ParsedArgs& args) {
  Wanted wanted{.bad = args.text("-o").value_or(""), .good = args.text("--min-good").value_or("")};
  if (wanted.bad.empty() && wanted.good.empty())
    log::critical(ErrorCode::kInvalidArgument,
                  "--output (where to write the reduced model) and/or --min-good (where to write a reduced "
                  "model that passes) must be "
                  "provided!");
  if (const auto folder = args.text("--test-case")) require_no_test_case(*folder);
  return wanted;
}

std::string journal_path(const ParsedArgs& args, const Wanted& wanted) {
  return args.text("--journal").value_or((wanted.bad.empty() ? wanted.good : wanted.bad) + ".journal");
}

debug::Journal open_journal(const ParsedArgs& args, const ModelOptions& options, const std::string& path) {
  const debug::SearchIdentity identity = identity_of(args, options);
  return args.has("--resume") ? debug::Journal::resume(path, identity)
                              : debug::Journal::begin(path, identity);
}

debug::ReductionOptions reduction_options(const ParsedArgs& args, const ModelOptions& options,
                                          debug::ReductionMode mode, const Wanted& wanted,
                                          const std::string& candidate) {
  debug::ReductionOptions reduction;
  reduction.mode = mode;
  reduction.reduce_inputs = !args.has("--no-reduce-inputs");
  reduction.reduce_outputs = !args.has("--no-reduce-outputs");
  reduction.wants_good = !wanted.good.empty();
  reduction.anonymises = args.has("--anonymise");
  reduction.candidate = candidate;
  reduction.save = [](const Model& m, const std::string& path) {
    const log::Indent inner;
    save_onnx_model(m, {.path = path});
  };
  reduction.evaluate = [&args, &options](const std::shared_ptr<Model>& m, const auto& observer) {
    const log::Indent inner;
    observe_values(m, input_cache(read_data_options(args, options.input_shapes)), observer);
  };
  return reduction;
}

/// `nodes`: of the whole model.
void save_bad(const ParsedArgs& args, debug::ReductionMode mode, const Model& bad, size_t nodes,
              const std::string& path) {
  const size_t left = bad.graph->nodes().size();
  if (mode == debug::ReductionMode::kBisect && left > 1 && left * 4 >= nodes)
    log::warning(
        "It looks like this model could potentially be reduced further.\nYou may want to reduce {} again "
        "using --mode=linear. ",
        path);
  log_model("Minimum Bad Model", bad);
  save_onnx_model(bad, read_onnx_save_options(args, kOutputOption));
}

void save_good(const debug::Reduction& result, const std::string& path) {
  if (result.good == nullptr || model_text(*result.good) == model_text(*result.bad)) {
    log::warning(
        "Could not find a minimal model close in size to the reduced model that does not cause a failure.");
    return;
  }
  log_model("Minimum Good Model", *result.good);
  save_onnx_model(*result.good, {.path = path});
}

/// A test case and programs that show the failure, where they are asked for.
void save_evidence(const CommandContext& context, const std::shared_ptr<Model>& model,
                   const debug::Reduction& result, const ModelOptions& options) {
  const ParsedArgs& args = context.args();
  const auto case_folder = args.text("--test-case"), program_folder = args.text("--programs");
  if (!case_folder && !program_folder) return;
  const TestCase test = test_case_of(args, model, *result.bad, options);
  if (case_folder) save_case(test, *case_folder);
  if (program_folder) save_programs(context, test, result.failure, *program_folder);
}

/// The whole model next to what is left of it.
void add_to_page(const std::shared_ptr<Model>& whole, const std::string& path, const debug::Reduction& result,
                 const debug::Iterations& iterations, const std::string& bad_path, ReportPage& page) {
  ReportTable table{
      .title = "What is left",
      .note = fmt::format("It fails so: {}", result.failure),
      .columns = {{"of"}, {"before", ReportColumn::Kind::kNumber}, {"after", ReportColumn::Kind::kNumber}}};
  const auto add = [&](const char* what, size_t before, size_t after) {
    table.rows.push_back({std::string(what), static_cast<int64_t>(before), static_cast<int64_t>(after)});
  };
  const Graph &a = *whole->graph, &b = *result.bad->graph;
  add("nodes", a.nodes().size(), b.nodes().size());
  add("inputs", a.inputs.size(), b.inputs.size());
  add("outputs", a.outputs.size(), b.outputs.size());
  page.report().sections.emplace_back(std::move(table));
  page.report().summary.emplace_back("checks", std::to_string(iterations.checks()));
  page.show(result.bad, bad_path.empty() ? "the smallest model" : bad_path);
  page.show(whole, path);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions options = read_model_options(args);
  const Wanted wanted = read_wanted(args);
  const debug::ReductionMode mode = read_mode(args);
  const bool is_subsets = mode == debug::ReductionMode::kSubsets;
  const std::unique_ptr<debug::Check> check = read_check(args, is_subsets && !args.has("--any-failure"));
  const std::string journal_at = journal_path(args, wanted);
  debug::IterationOptions iteration_options = read_iteration_options(args, kCandidate, journal_at);
  if (is_subsets && !args.has("--save-debug-replay")) iteration_options.save_replay.clear();
  SearchText text(args, is_subsets);
  debug::Iterations iterations(iteration_options, *check, text);
  context.announce();
  const std::shared_ptr<Model> model = load(context, options);
  warn_about(*model, args);
  const size_t nodes = model->graph->nodes().size();

  std::optional<debug::Journal> journal;
  if (is_subsets) {
    journal = open_journal(args, options, journal_at);
    if (!journal->failure().empty()) check->look_for(journal->failure());
    iterations.use(*journal);
  }
  const debug::ReductionOptions reduction =
      reduction_options(args, options, mode, wanted, iteration_options.candidate);
  const debug::Reduction result = debug::reduce(model, reduction, iterations, text);
  if (!wanted.bad.empty()) save_bad(args, mode, *result.bad, nodes, wanted.bad);
  if (!wanted.good.empty()) save_good(result, wanted.good);
  save_evidence(context, model, result, options);
  if (const auto path = args.text("--json"))
    save_text(
        "the result",
        debug::reduction_json(result, iterations, nodes, wanted.bad, args.text("--test-case").value_or("")),
        *path);
  if (ReportPage* page = context.report_page(); page != nullptr && result.bad != nullptr)
    add_to_page(model, options.path, result, iterations, wanted.bad, *page);
  if (is_subsets) log_summary(result, iterations, nodes, wanted.bad, reduction.anonymises);
  if (journal && !args.has("--journal")) {
    std::error_code ignored;
    std::filesystem::remove(journal->path(), ignored);
  }
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "reduce",
    .summary = "Reduce a failing model to the smallest part that fails in the same way.",
    .description =
        "Reduces a failing model to the smallest part that fails in the same way: each candidate is saved as "
        "polygraphy_debug.onnx in the "
        "current folder and given to the check. See docs/guide/debugging.md.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_reduce
