#include "cli/options/onnx_model.h"

#include <iterator>

#include "base/log.h"
#include "cli/run_part.h"
#include "cli/values.h"
#include "graph/import.h"
#include "graph/order.h"
#include "poly/run_parts.h"
#include "poly/run_table.h"
#include "script/network_script.h"
#include "script/reference.h"
#include "transform/convert_to_float16.h"

namespace assay::cli {

OptionGroup& add_onnx_load_options(ArgParser& parser, bool can_change_outputs) {
  OptionGroup& group = parser.add_group("ONNX Model Loading");
  group.options = poly::options_of("ONNX Model Loading");
  if (!can_change_outputs)
    std::erase_if(group.options, [](const Option& o) {
      return o.names_what == Names::kTensors || o.names.front() == "--onnx-outputs-by-type";
    });
  return group;
}

void add_onnx_shape_inference_options(ArgParser& parser, InferenceOptions kind) {
  OptionGroup& group = parser.add_group("ONNX Shape Inference");
  // Mutually exclusive options.
  const std::string exclusive = poly::find_run_option("--shape-inference")->option.exclusive;
  if (kind == InferenceOptions::kOnFallback)
    group.options.push_back({.names = {"--no-shape-inference"},
                             .help = "Do not infer shapes while loading.",
                             .arity = Arity::kNone,
                             .exclusive = exclusive});
  else
    group.options.push_back(poly::find_run_option("--shape-inference")->option);
  if (kind != InferenceOptions::kOff)
    group.options.push_back({.names = {"--force-fallback-shape-inference"},
                             .help =
                                 "Evaluate the model on generated data and take the shapes that come out, "
                                 "all of them fixed numbers.",
                             .arity = Arity::kNone,
                             .exclusive = exclusive});
  group.options.push_back(poly::find_run_option("--no-onnxruntime-shape-inference")->option);
}

namespace {

void add_saving_group(ArgParser& parser, Option path) {
  std::vector<Option> options = poly::options_of("ONNX Model Saving");
  options.front() = std::move(path);
  parser.add_group("ONNX Model Saving").options = std::move(options);
}

}  // namespace

void add_onnx_save_options(ArgParser& parser) {
  parser.add_group("ONNX Model Saving").options = poly::options_of("ONNX Model Saving");
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

void read_outputs(const ParsedArgs& args, const char* option, bool& mark_all,
                  std::optional<std::vector<std::string>>& outputs) {
  if (!args.declares(option)) return;
  outputs = args.list(option);
  mark_all = means_all_tensors(outputs);
  if (mark_all) outputs.reset();
}

void read_model_settings(const ParsedArgs& args, const ModelOptions& given, poly::RunSettings& settings) {
  poly::RunModel& model = settings.model;
  read_run_part(args, poly::RunPart::kModel, settings);
  model.path = given.path;
  if (given.is_plan) model.format = "engine";
  if (!given.foreign_format.empty()) model.format = given.foreign_format;
  if (!given.network_script.empty())
    model.network_script =
        script::parse_reference(given.network_script,
                                args.text("--trt-network-func-name").value_or(script::kNetworkFunction))
            .str();
  read_outputs(args, "--onnx-outputs", model.mark_all, model.outputs);
}

ModelLoaderOptions read_model_loader_options(const ParsedArgs& args, const ModelOptions& given,
                                             std::shared_ptr<const OpSet> ops) {
  poly::RunSettings settings;
  read_model_settings(args, given, settings);
  ModelLoaderOptions options = poly::model_loader_options(settings.model);
  options.import.ops = std::move(ops);
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
