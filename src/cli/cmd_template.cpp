// assay template: generates starting points. `model` generates well-known architectures with random weights;
// the others, in files of their own, write scripts and sharding hints.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/output_path.h"
#include "cli/cmd_template_scripts.h"
#include "cli/command.h"
#include "cli/options/logging.h"
#include "cli/values.h"
#include "graph/export.h"
#include "run/python_parse.h"
#include "templates/template_set.h"

namespace assay::cli::command_template {
namespace {

void add_model_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Model").options = {
      {.names = {"name"},
       .help = "The model to generate; see --list.",
       .arity = Arity::kOptional,
       .metavar = "NAME"},
      {.names = {"--list"},
       .help =
           "List the models with their parameters, GFLOPs (two for a multiply-add; batch 1) and file size.",
       .arity = Arity::kNone},
      {.names = {"-o", "--output"}, .help = "Where to save it; default: NAME.onnx.", .metavar = "FILE"},
      {.names = {"--seed"},
       .help = "Seed of the weights; default: 0.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--batch"},
       .help = "Extent of the first dimension of every input, or `dynamic`; default: 1.",
       .metavar = "N|dynamic"},
      {.names = {"--opset"},
       .help = fmt::format("ONNX opset, {} to {}; default: {}, or the nearest that the model exists for.",
                           kOldestTemplateOpset, kNewestTemplateOpset, kDefaultTemplateOpset),
       .metavar = "N",
       .kind = ValueKind::kInteger},
  };
}

TemplateOptions read_template_options(const ParsedArgs& args) {
  TemplateOptions options;
  options.seed = static_cast<uint64_t>(require_at_least("--seed", args.integer("--seed").value_or(0), 0));
  options.opset = args.integer("--opset");
  const std::string batch = args.text("--batch").value_or("1");
  if (batch == "dynamic") {
    options.batch = std::nullopt;
  } else {
    options.batch = python_int(batch);
    if (!options.batch)
      log::critical(ErrorCode::kInvalidArgument, "--batch: {} is neither a number nor `dynamic`.", batch);
  }
  return options;
}

std::string row(std::string_view name, std::string_view parameters, std::string_view gflops,
                std::string_view size, std::string_view summary) {
  return fmt::format("{:<20} {:>12} {:>8} {:>10}  {}", name, parameters, gflops, size, summary);
}

void list_templates(TemplateOptions options) {
  if (!options.batch) options.batch = 1;
  std::string text = row("Name", "Parameters", "GFLOPs", "File", "Model");
  for (const ModelTemplate* t : all_templates()) {
    TemplateOptions own = options;
    if (own.opset) own.opset = std::clamp(*own.opset, t->min_opset, t->max_opset);
    const TemplateStatistics s = template_statistics(*t, own);
    text += "\n" + row(t->name, fmt::format("{:.2f} M", static_cast<double>(s.parameters) / 1e6),
                       fmt::format("{:.2f}", s.gflops()),
                       fmt::format("{:.1f} MB", static_cast<double>(s.file_bytes) / 1e6), t->summary);
  }
  log::info("{}", text);
}

int run_model(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const TemplateOptions options = read_template_options(args);
  if (args.has("--list")) {
    list_templates(options);
    return 0;
  }
  const auto name = args.text("name");
  if (!name) log::critical(ErrorCode::kInvalidArgument, "Which model? Give a name, or --list to see them.");
  const std::string path = args.text("-o").value_or(*name + ".onnx");
  check_output_file(path);
  const std::shared_ptr<Model> model = build_template(find_template(*name), options);
  log::info("Saving ONNX model to: {}", path);
  save_model(*model, path);
  return 0;
}

constexpr Command kModelCommand = {
    .name = "model",
    .summary = "Generate a well-known architecture with random weights.",
    .description =
        "Generates a model layer by layer as it was published, with seeded random weights of the scale that "
        "keeps activations sane, and saves it as ONNX.",
    .add_options = add_model_options,
    .run = run_model,
};
constexpr const Command* kSubcommands[] = {&kModelCommand,
                                           &command_template_trt_network::def,
                                           &command_template_trt_config::def,
                                           &command_template_onnx_gs::def,
                                           &command_template_extension::def,
                                           &command_template_shard_hints::def};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "template",
    .summary = "Generate things to start from.",
    .description = "Generates things to start from.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_template
