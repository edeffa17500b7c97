#include "cli/options/onnx_model.h"

#include <iterator>

#include "base/log.h"
#include "cli/values.h"
#include "graph/import.h"
#include "graph/order.h"
#include "transform/convert_to_float16.h"

namespace assay::cli {

OptionGroup& add_onnx_load_options(ArgParser& parser, bool can_change_outputs) {
  OptionGroup& group = parser.add_group("ONNX Model Loading");
  group.options = {
      {.names = {"--external-data-dir", "--load-external-data", "--ext"},
       .help = "Folder of the model's external data, if they are not beside the model.",
       .metavar = "DIR"},
      {.names = {"--ignore-external-data"},
       .help = "Load the structure without external weights.",
       .arity = Arity::kNone},
      {.names = {"--fp-to-fp16"},
       .help = "Compute in float16; inputs and outputs keep their types.",
       .arity = Arity::kNone},
  };
  if (!can_change_outputs) return group;
  const Option outputs[] = {
      {.names = {"--onnx-outputs"},
       .help = "Tensors to use as the model's outputs: names or patterns; '*' alone means every tensor that "
               "a node "
               "computes.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .names_what = Names::kTensors},
      {.names = {"--onnx-outputs-by-type"},
       .help = "Use what nodes with these operators compute as the model's outputs; with --onnx-outputs, "
               "besides those.",
       .arity = Arity::kAtLeastOne,
       .metavar = "OPERATOR"},
      {.names = {"--onnx-exclude-outputs"},
       .help = "Outputs to leave out.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .names_what = Names::kTensors},
  };
  group.options.insert(group.options.end() - 1, std::begin(outputs), std::end(outputs));
  return group;
}

void add_onnx_shape_inference_options(ArgParser& parser, InferenceOptions kind) {
  OptionGroup& group = parser.add_group("ONNX Shape Inference");
  // Those that exclude each other.
  const char* exclusive = "shape inference";
  if (kind == InferenceOptions::kOnFallback)
    group.options.push_back({.names = {"--no-shape-inference"},
                             .help = "Do not infer shapes while loading.",
                             .arity = Arity::kNone,
                             .exclusive = exclusive});
  else
    group.options.push_back({.names = {"--shape-inference", "--do-shape-inference"},
                             .help = "Infer shapes while loading, so that a model that is saved has them.",
                             .arity = Arity::kNone,
                             .exclusive = exclusive});
  if (kind != InferenceOptions::kOff)
    group.options.push_back({.names = {"--force-fallback-shape-inference"},
                             .help =
                                 "Evaluate the model on generated data and take the shapes that come out, "
                                 "all of them fixed numbers.",
                             .arity = Arity::kNone,
                             .exclusive = exclusive});
  group.options.push_back({.names = {"--no-onnxruntime-shape-inference"},
                           .help = "Accepted; shape inference is built in and never asks ONNX Runtime.",
                           .arity = Arity::kNone});
}

namespace {

void add_saving_group(ArgParser& parser, Option path) {
  parser.add_group("ONNX Model Saving").options = {
      std::move(path),
      {.names = {"--save-external-data", "--external-data-path"},
       .help = "Save weights in a file of their own, beside the model. Without it, weights in external files "
               "stay there if the new model lies beside them.",
       .arity = Arity::kOptional,
       .metavar = "FILE"},
      {.names = {"--external-data-size-threshold"},
       .help = "Tensors that are smaller stay in the model; default: 1024 bytes. K, M and G are understood.",
       .metavar = "BYTES"},
      {.names = {"--no-save-all-tensors-to-one-file"},
       .help = "Save every external tensor in its own file.",
       .arity = Arity::kNone},
  };
}

}  // namespace

void add_onnx_save_options(ArgParser& parser, const std::string& path_option) {
  add_saving_group(
      parser,
      {.names = {path_option}, .help = "Save the model that is run, with all changes.", .metavar = "FILE"});
}

void add_onnx_output_options(ArgParser& parser, bool is_required) {
  add_saving_group(parser,
                   {.names = {kOutputOption, "--output"},
                    .help = is_required ? "The file to save the model to."
                                        : "The file to save the model to. Without it nothing is written, "
                                          "and only what would happen is said.",
                    .metavar = "FILE",
                    .required = is_required});
}

ModelSaveOptions read_onnx_save_options(const ParsedArgs& args, const std::string& path_option) {
  ModelSaveOptions options;
  options.path = args.text(path_option).value_or("");
  if (const auto occurrences = args.all("--save-external-data"); !occurrences.empty())
    options.external_data_path = occurrences.front().empty() ? "" : occurrences.front().front();
  if (const auto bytes = args.text("--external-data-size-threshold"))
    options.external_data_threshold = parse_byte_count(*bytes);
  options.one_file_per_tensor = args.has("--no-save-all-tensors-to-one-file");
  return options;
}

bool means_all_tensors(const std::optional<std::vector<std::string>>& words) {
  if (words == std::vector<std::string>{"*"}) return true;
  if (words != std::vector<std::string>{"mark", "all"}) return false;
  log::once(log::Severity::kWarning,
            "'mark all' is deprecated and will be removed in Polygraphy 0.55.0. Use '*' instead.");
  return true;
}

ModelLoaderOptions read_model_loader_options(const ParsedArgs& args, const std::string& model_path,
                                             const std::string& path_option,
                                             std::shared_ptr<const OpSet> ops) {
  ModelLoaderOptions options;
  options.path = model_path;
  options.import.external_data_dir = args.text("--external-data-dir").value_or("");
  options.import.ignore_external_data = args.has("--ignore-external-data");
  options.import.ops = std::move(ops);
  options.outputs = args.list("--onnx-outputs");
  options.mark_all = means_all_tensors(options.outputs);
  if (options.mark_all) options.outputs.reset();
  options.output_types = args.list("--onnx-outputs-by-type").value_or(std::vector<std::string>{});
  options.exclude_outputs = args.list("--onnx-exclude-outputs");
  options.convert_to_fp16 = args.has("--fp-to-fp16");
  options.infer_shapes = args.has("--shape-inference");
  options.save = read_onnx_save_options(args, path_option);
  return options;
}

std::shared_ptr<Model> load_unconverted_model(const ParsedArgs& args, const std::string& path,
                                              std::shared_ptr<const OpSet> ops) {
  log::info("Loading model: {}", path);
  const std::shared_ptr<Model> model =
      load_model(path, {.external_data_dir = args.text("--external-data-dir").value_or(""),
                        .ignore_external_data = args.has("--ignore-external-data"),
                        .keep_node_order = !args.has("--fp-to-fp16"),
                        .allow_weightless = true,
                        .ops = std::move(ops)});
  if (args.declares("--shape-inference") && args.has("--shape-inference")) infer_known_shapes(*model);
  return model;
}

void convert_loaded_model(const ParsedArgs& args, Model& model) {
  if (!args.has("--fp-to-fp16")) return;
  log::info("Converting float tensors to float16");
  convert_to_float16(model);
}

std::shared_ptr<Model> load_onnx_model(const ParsedArgs& args, const std::string& path,
                                       std::shared_ptr<const OpSet> ops) {
  std::shared_ptr<Model> model = load_unconverted_model(args, path, std::move(ops));
  convert_loaded_model(args, *model);
  return model;
}

}  // namespace assay::cli
