// assay check lint: finds all defects of a model.
#include "assay/backend_set.h"
#include "assay/io.h"
#include "assay/lint.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/options/data_loader.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/report.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "graph/metadata_text.h"
#include "ops/infer.h"
#include "run/input_roles.h"
#include "run/loader_cache.h"

namespace assay::cli::command_check_lint {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true);
  parser.add_group("Lint").options = {
      {.names = {"-o", "--output"}, .help = "Where to save the report, as JSON.", .metavar = "FILE"},
      {.names = {"--rules"},
       .help =
           "all: everything (the default of assay); upstream: only what Polygraphy finds, too (the default "
           "of polygraphy).",
       .metavar = "RULES",
       .choices = {"all", "upstream"}},
      {.names = {"--no-onnxrt"}, .help = "Do not run the model with ONNX Runtime.", .arity = Arity::kNone},
      providers_option(),
      onnxrt_library_option(),
      graph_optimization_option(),
  };
  parser.add_group("Report").options = report_options({});
  parser.add_group("ONNX Model Loading").options = {
      {.names = {"--external-data-dir", "--load-external-data", "--ext"},
       .help = "The folder of the model's external data; default: that of the model.",
       .metavar = "FOLDER"},
      {.names = {"--ignore-external-data"},
       .help = "Leave external data unread. The model is not run then.",
       .arity = Arity::kNone},
      {.names = {"--fp-to-fp16"},
       .arity = Arity::kNone,
       .refusal = "a model is checked as it is in its file. Convert it first: assay convert MODEL "
                  "--fp-to-fp16 -o half.onnx."},
  };
  add_data_loader_options(parser);
}

/// Data for the model's inputs, drawn or loaded. As upstream, whose data loader is told the type and shape of
/// every input, and logs its choices for open extents.
TensorList feed_for(DataOptions data, const std::vector<TensorInfo>& inputs) {
  for (const TensorInfo& input : inputs)
    if (input.type.is_tensor())
      data.random.shapes.push_back(
          {.name = input.name, .dims = input.type.dims.value_or(Dims()), .dtype = input.type.dtype});
  LoaderCache loaded = input_cache(data);
  loaded.set_inputs(inputs);
  require(loaded.size() > 0, ErrorCode::kInvalidArgument, "no iteration has data");
  std::vector<Tensor> tensors = loaded.feed(0);
  TensorList list;
  for (size_t i = 0; i < inputs.size(); ++i) list.push_back({inputs[i].name, std::move(tensors[i])});
  return list;
}

/// Random data that every node accepts: no divisor is 0, no index is out of range. If the model cannot be
/// analysed, the data are not adapted.
void make_acceptable(const lint::LintOptions& options, const DataOptions& data, TensorList& feed) {
  if (options.upstream_only || !data.load_inputs.empty() || data.script) return;
  try {
    const std::shared_ptr<Model> model =
        load_model(options.path, {.external_data_dir = options.import.external_data_dir,
                                  .ignore_external_data = true,
                                  .allow_weightless = true,
                                  .ops = options.import.ops});
    infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
    obey_roles(*model, data.random, feed);
  } catch (const Error& e) {
    log::verbose("Data are drawn without regard to what reads them: {}", e.what());
  }
}

/// ONNX Runtime; null, with a warning, if it is not available.
const Backend* runtime(const ParsedArgs& args, const SessionOptions& session, const BackendSet& backends) {
  if (args.has("--no-onnxrt") || args.has("--ignore-external-data")) return nullptr;
  const Backend* backend = &backends.get("onnxrt");
  const std::string reason = backend->probe(session);
  if (reason.empty()) return backend;
  log::warning("The model is not run, only checked by our own rules: {}", reason);
  return nullptr;
}

void log_finding(const lint::Finding& f) {
  const std::string text = lint::finding_text(f);
  if (f.level == lint::Level::kException)
    log::error("{}", text);
  else if (f.level == lint::Level::kWarning)
    log::warning("{}", text);
  else
    log::info("{}", text);
}

void save(const lint::Findings& findings, const std::string& path) {
  log::info("Saving linting report to {}", path);
  AtomicFile file(path);
  file.write(lint::findings_json(findings));
  file.commit();
}

/// A test for each finding, or one that passes.
void report(const ParsedArgs& args, const lint::Findings& findings, const std::string& path) {
  TestReport report(args, "assay check lint", {});
  for (const lint::Finding& f : findings.entries)
    report.add(
        {.group = path,
         .name = lint::finding_text(f),
         .how = f.level == lint::Level::kException ? TestResult::How::kFailed : TestResult::How::kSkipped,
         .message = lint::finding_text(f)});
  if (findings.entries.empty()) report.add({.group = path, .name = "no findings"});
  report.save();
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions model = read_model_options(args);
  const DataOptions data = read_data_options(args, {});
  lint::LintOptions options;
  options.path = model.path;
  options.import.external_data_dir = args.text("--external-data-dir").value_or("");
  options.import.ignore_external_data = args.has("--ignore-external-data");
  options.import.ops = context.registries().ops;
  for (const InputShape& s : model.input_shapes) options.input_shapes.emplace_back(s.name, s.dims);
  options.upstream_only =
      args.text("--rules").value_or(context.invocation().as_polygraphy() ? "upstream" : "all") == "upstream";
  options.session.providers = args.list("--providers").value_or(std::vector<std::string>{});
  options.session.library = args.text("--onnxrt-library").value_or("");
  options.session.graph_optimization_level = read_graph_optimization_level(args);
  context.announce();
  options.backend = runtime(args, options.session, context.registries().backends);
  options.feed = [&](const std::vector<TensorInfo>& inputs) {
    TensorList feed = feed_for(data, inputs);
    make_acceptable(options, data, feed);
    return feed;
  };
  options.needs_data = !data.load_inputs.empty() || data.script;
  options.on_finding = log_finding;
  options.on_warning = [](const std::string& text) { log::warning("{}", text); };
  options.on_input_shapes = [](const std::vector<TensorInfo>& inputs) {
    MetadataText text;
    for (const TensorInfo& i : inputs)
      text.add(i.name, i.type.dtype, i.type.is_tensor() ? i.type.dims : std::nullopt);
    log::info("Overriding input shapes to:\n{}", text.str());
  };
  log::info("Loading model: {}", options.path);
  const lint::Findings findings = lint::lint_model(options);
  if (const auto path = args.text("-o")) save(findings, *path);
  report(args, findings, model.path);
  if (ReportPage* page = context.report_page())
    page->add(SavedKind::kFindings, lint::findings_json(findings));
  return findings.is_valid() ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "lint",
    .summary = "Find everything that is wrong with a model.",
    .description =
        "Checks the model as a file, its names, order, tensors and types, every node against the rules of "
        "its "
        "operator, and declared types against inferred ones; runs it with ONNX Runtime where that is "
        "installed, "
        "node by node if it does not run as a whole. Every error is found in one go. Exit code 1 if there is "
        "one.",
    .add_options = add_options,
    .run = run,
    .reports = true,
};

}  // namespace assay::cli::command_check_lint
