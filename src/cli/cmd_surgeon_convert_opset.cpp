// assay surgeon convert-opset: converts a model to another version of an operator set.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "convert/convert_opset.h"
#include "graph/import.h"
#include "run/model_saver.h"

namespace assay::cli::command_surgeon_convert_opset {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Model").options = {
      {.names = {"model_file"}, .help = "The ONNX model.", .metavar = "MODEL"},
      {.names = {"--external-data-dir", "--load-external-data", "--ext"},
       .help = "Folder of the model's external data, if they are not next to the model.",
       .metavar = "DIR"},
  };
  parser.add_group("Conversion").options = {
      {.names = {"--to"},
       .help = "The opset to convert to, upwards or downwards.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--ir-version"},
       .help = "The IR version to write. Without --to, nothing else of the model changes. Refused where the "
               "model "
               "holds what came later.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--domain"},
       .help = "The domain whose opset it is: ai.onnx (the default) or ai.onnx.ml.",
       .metavar = "DOMAIN"},
  };
  add_onnx_output_options(parser, /*is_required=*/false);
}

/// Names every node without equivalent; throws Error.
[[noreturn]] void refuse(const ConvertReport& report, int64_t wanted) {
  int64_t nearest = report.problems.front().nearest;
  for (const ConvertProblem& p : report.problems) {
    log::error("{}", p.str(wanted));
    nearest = report.from > wanted ? std::max(nearest, p.nearest) : std::min(nearest, p.nearest);
  }
  Error error(
      ErrorCode::kUnsupported,
      fmt::format(
          "what the model computes cannot be said in opset {} ({} difference(s)), so nothing is written",
          wanted, report.problems.size()));
  if (nearest != report.from) error.set_remedy(fmt::format("Convert it to opset {} instead.", nearest));
  throw error;
}

void change_opset(const ParsedArgs& args, const std::string& path, Model& model) {
  const ConvertOptions options = {.domain = args.text("--domain").value_or(""),
                                  .version = *args.integer("--to")};
  const int64_t nodes = count_nodes(model);
  const ConvertReport report =
      with_context([&] { return file_place(path); }, [&] { return convert_opset(model, options); });
  for (const std::string& note : report.notes) log::warning("{}", note);
  if (!report.problems.empty())
    with_context([&] { return file_place(path); }, [&] { refuse(report, options.version); });
  log::info("Opset of {}: {} -> {} | {} of {} nodes rewritten, {} added | IR version: {} -> {}",
            options.domain.empty() ? "ai.onnx" : options.domain, report.from, options.version,
            report.rewritten, nodes, report.added, report.old_ir_version, model.ir_version);
}

void write_ir_version(const std::string& path, int64_t version, Model& model) {
  const int64_t old = model.ir_version;
  with_context([&] { return file_place(path); }, [&] { change_ir_version(model, version); });
  log::info("IR version: {} -> {}", old, version);
  for (const OpsetImport& o : model.opsets)
    if (const int64_t usual = ir_version_for(o.domain, o.version); usual > version)
      log::warning("Opset {} of {} came with IR version {}; a reader may expect that.", o.version,
                   o.domain.empty() ? "ai.onnx" : o.domain, usual);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const auto ir_version = args.integer("--ir-version");
  if (!args.has("--to") && !ir_version)
    log::critical(ErrorCode::kInvalidArgument, "Convert to what? Give --to, --ir-version, or both.");
  if (!args.has("--to") && args.has("--domain"))
    log::critical(ErrorCode::kInvalidArgument, "--domain is about --to, which is not given.");
  const std::string path = *args.text("model_file");
  const std::shared_ptr<Model> model = load_model(
      path,
      {.external_data_dir = args.text("--external-data-dir").value_or(""), .ops = context.registries().ops});
  if (args.has("--to")) change_opset(args, path, *model);
  if (ir_version) write_ir_version(path, *ir_version, *model);
  const ModelSaveOptions saving = read_onnx_save_options(args, kOutputOption);
  if (saving.path.empty()) {
    log::info("Nothing is written, because no file is named with -o.");
    return 0;
  }
  save_onnx_model(*model, saving);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "convert-opset",
    .summary = "Convert a model to another opset or IR version.",
    .description =
        "Converts a model to another version of an operator set, upwards or downwards, so that it computes "
        "what it "
        "computed: nodes are rewritten where their form or meaning changed, and operators that the target "
        "does not "
        "have yet are expressed by older ones. What has no equivalent is named, all of it at once, with the "
        "nearest "
        "opset that has it, and then nothing is written. Unknown operators and other domains stay as they "
        "are.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_surgeon_convert_opset
