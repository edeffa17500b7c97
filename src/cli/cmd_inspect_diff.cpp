// assay inspect diff: shows the differences between two models.
#include "assay/inspect.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "console/failure.h"
#include "graph/import.h"
#include "inspect/viewer_match.h"

namespace assay::cli::command_inspect_diff {
namespace {

constexpr ModelDifference::Kind kIgnorable[] = {
    ModelDifference::Kind::kMetadata, ModelDifference::Kind::kOpset, ModelDifference::Kind::kAttribute,
    ModelDifference::Kind::kInitializer};
/// As in diff(1): 0 for equal models, 1 for different ones, this for errors.
constexpr int kTrouble = 2;

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  std::vector<std::string> ignorable;
  for (const ModelDifference::Kind kind : kIgnorable) ignorable.emplace_back(name_of(kind));
  parser.add_group("Models").options = {
      {.names = {"model_a"}, .help = "The ONNX model to compare with."},
      {.names = {"model_b"}, .help = "The ONNX model to compare."},
      {.names = {"--external-data-dir", "--load-external-data", "--ext"},
       .help = "Folder of the models' external data, if they are not next to each model.",
       .metavar = "DIR"},
      {.names = {"--ignore-external-data"},
       .help = "Compare the structure without external weights.",
       .arity = Arity::kNone},
  };
  parser.add_group("Comparison").options = {
      {.names = {"--ignore"},
       .help = "Kinds of differences that do not count.",
       .arity = Arity::kAtLeastOne,
       .choices = ignorable},
      {.names = {"--json"}, .help = "Write the differences to this file, too.", .metavar = "FILE"},
  };
}

DiffOptions read_diff_options(const ParsedArgs& args) {
  DiffOptions options;
  for (const std::string& name : args.list("--ignore").value_or(std::vector<std::string>()))
    for (const ModelDifference::Kind kind : kIgnorable)
      if (name_of(kind) == name) options.ignore.push_back(kind);
  return options;
}

std::shared_ptr<Model> load(const ParsedArgs& args, const std::string& option,
                            const std::shared_ptr<const OpSet>& ops) {
  const std::string path = read_onnx_model_path(args, option);
  log::info("Loading model: {}", path);
  return load_model(path, {.external_data_dir = args.text("--external-data-dir").value_or(""),
                           .ignore_external_data = args.has("--ignore-external-data"),
                           .ops = ops});
}

/// Both graphs side by side, with what belongs together.
void fill(ReportPage& page, const ParsedArgs& args, const std::shared_ptr<Model>& a,
          const std::shared_ptr<Model>& b, const ModelDiff& diff) {
  page.add(SavedKind::kDiff, diff_json(diff));
  page.report().matching = match_models(*a, *b);
  page.show(a, args.text("model_a").value_or(""));
  page.show(b, args.text("model_b").value_or(""));
}

int compare(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::shared_ptr<const OpSet>& ops = context.registries().ops;
  const std::shared_ptr<Model> a = load(args, "model_a", ops), b = load(args, "model_b", ops);
  const ModelDiff diff = diff_models(*a, *b, read_diff_options(args));
  log::info("==== Model Difference ====\n{}", diff_text(diff));
  if (const auto path = args.text("--json")) {
    log::info("Saving differences to {}", *path);
    AtomicFile file(*path);
    file.write(diff_json(diff));
    file.commit();
  }
  if (ReportPage* page = context.report_page()) fill(*page, args, a, b, diff);
  return diff.is_same() ? 0 : 1;
}

int run(CommandContext& context) {
  try {
    return compare(context);
  } catch (...) {
    report_exception();
    return kTrouble;
  }
}

}  // namespace

constinit const Command def = {
    .name = "diff",
    .summary = "Show what differs between two models.",
    .description =
        "Shows what differs between two models: nodes, connections, attributes, weights, inputs and outputs, "
        "opsets and "
        "metadata. Other names of nodes and inner values, another order of nodes and copies of constants "
        "make no "
        "difference. Exit code: 0 for none, 1 for some, 2 for trouble.",
    .add_options = add_options,
    .run = run,
    .reports = true,
};

}  // namespace assay::cli::command_inspect_diff
