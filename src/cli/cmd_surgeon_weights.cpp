// assay surgeon weight-strip and weight-reconstruct: remove weights from a model, and insert random ones.
#include <set>
#include <string_view>

#include "base/mapped_file.h"
#include "base/resident_memory.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "cli/weight_text.h"
#include "surgeon/weight_reconstruct.h"
#include "surgeon/weight_strip.h"

namespace assay::cli {
namespace {

constexpr int64_t kDefaultSeed = 1;

void add_weight_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_onnx_output_options(parser);
}

void add_strip_options(ArgParser& parser) {
  add_weight_options(parser);
  parser.add_group("Weight Stripping").options = {
      {.names = {"--exclude-list"},
       .help = "A text file with the names of initializers to keep, one in each line.",
       .metavar = "FILE",
       .names_what = Names::kTensors},
  };
}

void add_reconstruct_options(ArgParser& parser) {
  add_weight_options(parser);
  parser.add_group("Weight Reconstruction").options = {
      {.names = {"--seed"},
       .help = "Seed of the random weights; the same seed gives the same model. Default: 1.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
  };
}

/// The lines of a file, without blanks at their ends; empty lines do not count.
std::set<std::string> read_names(const std::string& path) {
  const auto file = MappedFile::open(path);
  std::set<std::string> names;
  for (std::string_view rest = file->bytes(); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    line.remove_suffix(line.size() - (line.find_last_not_of(" \t\r\v\f") + 1));
    if (!line.empty()) names.emplace(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

int run_strip(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  const auto list = args.text("--exclude-list");
  const std::set<std::string> excluded = list ? read_names(*list) : std::set<std::string>();
  context.announce();
  const ResidentMemoryLimit limit;
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  log_model("Original Model", *model);
  WeightText text;
  strip_weights(*model, excluded, &text);
  save_edited_model(args, *model);
  return 0;
}

int run_reconstruct(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  const int64_t seed = require_at_least("--seed", args.integer("--seed").value_or(kDefaultSeed), 0);
  context.announce();
  const ResidentMemoryLimit limit;
  const std::shared_ptr<Model> model = load_unconverted_model(args, path, context.registries().ops);
  log_model("Original Model", *model);
  with_context([&] { return file_place(path); },
               [&] {
                 WeightText text;
                 reconstruct_weights(*model, static_cast<uint64_t>(seed), &text);
                 convert_loaded_model(args, *model);
               });
  save_edited_model(args, *model);
  return 0;
}

}  // namespace

namespace command_surgeon_weight_strip {
constinit const Command def = {
    .name = "weight-strip",
    .summary = "Take the weights out of a model.",
    .description =
        "Empties the initializers that hold weights and marks them, so that the structure of a model can be "
        "passed on without them. Fold constants first: weights that a node computes from constants stay. "
        "Files of external data are not changed.",
    .add_options = add_strip_options,
    .run = run_strip,
};
}  // namespace command_surgeon_weight_strip

namespace command_surgeon_weight_reconstruct {
constinit const Command def = {
    .name = "weight-reconstruct",
    .summary = "Give a stripped model random weights.",
    .description =
        "Fills the initializers that weight-strip has emptied with random numbers, and with 2:4 sparse ones "
        "where the weights were that.",
    .add_options = add_reconstruct_options,
    .run = run_reconstruct,
};
}  // namespace command_surgeon_weight_reconstruct

}  // namespace assay::cli
