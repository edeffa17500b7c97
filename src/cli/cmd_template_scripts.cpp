// assay template onnx-gs, trt-network and trt-config: write scripts to start from, in Python or C++.
#include "cli/cmd_template_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/unavailable.h"
#include "cli/script_text.h"
#include "cli/values.h"
#include "graph/metadata_text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

void add_script_options(ArgParser& parser) {
  parser.add_group("Script").options = {
      {.names = {"-o", "--output"},
       .help = "Where to save the script; - is standard output.",
       .metavar = "FILE",
       .required = true},
      {.names = {"--language"},
       .help = "What it is written in; default: what the file's name says (.cpp, .cc, .cxx), else python.",
       .choices = {"python", "cpp"}},
  };
}

bool wants_cpp(const ParsedArgs& args) {
  if (const auto language = args.text("--language")) return *language == "cpp";
  const std::string extension = fs::path(args.text("-o").value()).extension().string();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

void write_script(const ParsedArgs& args, const std::string& text) {
  const std::string path = args.text("-o").value_or("-");
  if (path == "-") {
    log::print(text);
    return;
  }
  AtomicFile file(path);
  file.write(text);
  if (!wants_cpp(args)) file.make_executable();
  file.commit();
  log::info("Writing script to: {}", path);
}

/// The command's options that change a model during loading.
ScriptModel read_script_model(const ParsedArgs& args, std::string path) {
  ScriptModel m;
  m.path = std::move(path);
  m.import.external_data_dir = args.text("--external-data-dir").value_or("");
  m.import.ignore_external_data = args.has("--ignore-external-data");
  m.infer_shapes = args.declares("--shape-inference") && args.has("--shape-inference");
  m.convert_to_fp16 = args.has("--fp-to-fp16");
  if (args.has("--onnx-outputs-by-type"))
    log::critical(
        ErrorCode::kUnsupported,
        "--onnx-outputs-by-type is not put into scripts. Name operators with --onnx-outputs op:OPERATOR.");
  m.outputs = args.list("--onnx-outputs");
  m.mark_all = means_all_tensors(m.outputs);
  if (m.mark_all) m.outputs.reset();
  m.exclude_outputs = args.list("--onnx-exclude-outputs");
  return m;
}

void warn_about_shapes(const ParsedArgs& args) {
  if (args.has("--input-shapes")) log::warning("--input-shapes has no effect on the script; it is ignored.");
}

// ---- onnx-gs

void add_onnx_gs_options(ArgParser& parser) {
  add_logging_options(parser);
  add_script_options(parser);
  add_onnx_model_option(parser);
  parser.add_group("Model Inputs").options = {{.names = {"--input-shapes", "--inputs"},
                                               .help = "Accepted; without effect on the script.",
                                               .arity = Arity::kAtLeastOne,
                                               .metavar = "NAME:SHAPE"}};
  add_onnx_shape_inference_options(parser);
  name_nothing(add_onnx_load_options(parser));  // the script gets the words unchanged
}

int run_onnx_gs(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ScriptModel model = read_script_model(args, read_onnx_model_path(args));
  warn_about_shapes(args);
  fs::path saved = model.path;
  saved.replace_filename(saved.stem().string() + "_updated" + saved.extension().string());
  const std::string& command = context.invocation().command_line;
  write_script(args, wants_cpp(args) ? onnx_gs_cpp(model, saved.string(), command, args.text("-o").value())
                                     : onnx_gs_python(model, saved.string(), command));
  return 0;
}

// ---- trt-network

void add_trt_network_options(ArgParser& parser) {
  add_logging_options(parser);
  add_script_options(parser);
  add_model_options(parser, /*is_required=*/false, "Accepted; without effect on the script.",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  name_nothing(add_onnx_load_options(parser));  // the script gets the words unchanged
  parser.add_group("TensorRT Network").options = {
      {.names = {"--strongly-typed"}, .help = "Make a strongly typed network.", .arity = Arity::kNone},
      {.names = {"--mark-unfused-tensors-as-debug-tensors"},
       .help = "Mark the tensors between layers that are not fused.",
       .arity = Arity::kNone},
      {.names = {"--plugin-instancenorm"},
       .help = "Parse InstanceNormalization into a plugin.",
       .arity = Arity::kNone},
  };
  add_unavailable_network_options(parser);
}

std::vector<std::string> network_arguments(const ParsedArgs& args, bool has_model) {
  std::vector<std::string> list;
  if (args.has("--strongly-typed")) list.emplace_back("strongly_typed=True");
  if (args.has("--mark-unfused-tensors-as-debug-tensors"))
    list.emplace_back("mark_unfused_tensors_as_debug_tensors=True");
  if (!args.has("--plugin-instancenorm")) return list;
  if (has_model)
    list.emplace_back("plugin_instancenorm=True");
  else
    log::warning("--plugin-instancenorm concerns a model that is parsed, and none is given; it is ignored.");
  return list;
}

/// The C++ forms are for the engine, where TensorRT's settings have no meaning.
void refuse_tensorrt_options(const ParsedArgs& args, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (args.has(name))
      log::critical(ErrorCode::kInvalidArgument,
                    "{} is a setting of TensorRT, and the C++ form is for the engine. Leave it out, or use "
                    "--language python.",
                    name);
}

int run_trt_network(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ScriptModel model = read_script_model(args, read_model_options(args).path);
  warn_about_shapes(args);
  const std::string& command = context.invocation().command_line;
  if (wants_cpp(args)) {
    refuse_tensorrt_options(
        args, {"--strongly-typed", "--mark-unfused-tensors-as-debug-tensors", "--plugin-instancenorm"});
    write_script(args, trt_network_cpp(model, command, args.text("-o").value()));
  } else {
    write_script(args, trt_network_python(model, network_arguments(args, !model.path.empty()), command));
  }
  return 0;
}

// ---- trt-config

/// Options without a value, and the argument of CreateConfig that each sets to True.
constexpr std::pair<const char*, const char*> kFlags[] = {
    {"--tf32", "tf32"},
    {"--fp16", "fp16"},
    {"--bf16", "bf16"},
    {"--fp8", "fp8"},
    {"--int8", "int8"},
    {"--sparse-weights", "sparse_weights"},
    {"--version-compatible", "version_compatible"},
    {"--exclude-lean-runtime", "exclude_lean_runtime"},
    {"--refittable", "refittable"},
    {"--strip-plan", "strip_plan"},
    {"--disable-compilation-cache", "disable_compilation_cache"},
    {"--error-on-timing-cache-miss", "error_on_timing_cache_miss"},
    {"--weight-streaming", "weight_streaming"},
    {"--trt-safety-restricted", "restricted"},
    {"--use-dla", "use_dla"},
    {"--allow-gpu-fallback", "allow_gpu_fallback"},
};
constexpr std::pair<const char*, const char*> kIntegers[] = {
    {"--builder-optimization-level", "builder_optimization_level"},
    {"--max-aux-streams", "max_aux_streams"},
};

std::vector<std::string> config_option_names() {
  std::vector<std::string> names = {"--precision-constraints", "--load-timing-cache"};
  for (const auto& [option, argument] : kFlags) names.emplace_back(option);
  for (const auto& [option, argument] : kIntegers) names.emplace_back(option);
  names.insert(names.end(), std::begin(kProfileOptions), std::end(kProfileOptions));
  return names;
}

void add_trt_config_options(ArgParser& parser) {
  add_logging_options(parser);
  add_script_options(parser);
  add_model_options(parser, /*is_required=*/false,
                    "Shapes of the optimisation profile, as in image:[1,3,224,224].",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  OptionGroup& group = parser.add_group("TensorRT Builder Configuration");
  for (const char* option : kProfileOptions)
    group.options.push_back({.names = {option},
                             .help = "Shapes of a profile; each further use begins another profile.",
                             .arity = Arity::kAtLeastOne,
                             .metavar = "NAME:SHAPE"});
  for (const auto& [option, argument] : kFlags)
    group.options.push_back({.names = {option},
                             .help = fmt::format("Set {} of the configuration.", argument),
                             .arity = Arity::kNone});
  for (const auto& [option, argument] : kIntegers)
    group.options.push_back({.names = {option},
                             .help = fmt::format("Set {} of the configuration.", argument),
                             .metavar = "NUM",
                             .kind = ValueKind::kInteger});
  group.options.push_back({.names = {"--precision-constraints"},
                           .help = "Whether constraints on precision are followed.",
                           .choices = {"prefer", "obey", "none"}});
  group.options.push_back(
      {.names = {"--load-timing-cache"}, .help = "A timing cache to begin with.", .metavar = "FILE"});
  name_nothing(add_data_loader_options(
      parser, "this build does not put it into the script. Write it into the function load_config."));
  add_unavailable_config_options(parser);
}

using Shapes = std::vector<std::pair<std::string, std::string>>;  // names and Python lists

/// TensorRT's profiles hold only numbers; an open extent becomes 1, with a warning.
std::string python_dims(const InputShape& input) {
  std::vector<int64_t> extents;
  for (const Dim& d : input.dims) extents.push_back(d.is_known() ? d.value() : 1);
  std::string text = python_list_repr(extents);
  if (!known_shape(input.dims))
    log::warning("Input tensor: {} | For TensorRT profile, overriding dynamic shape: {} to: {}", input.name,
                 bounded_shape_text(input.dims), text);
  return text;
}

void set_shape(Shapes& shapes, const std::string& name, const std::string& dims) {
  const auto it = std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.first == name; });
  if (it != shapes.end())
    it->second = dims;
  else
    shapes.emplace_back(name, dims);
}

std::string names_text(const Shapes& shapes) {
  std::vector<std::string> names;
  for (const auto& [name, dims] : shapes) names.push_back(name);
  return python_list_repr(names);
}

/// Profile n has the n-th use of each option; a missing one is taken from the preceding option, beginning
/// with --input-shapes.
std::vector<std::vector<std::vector<std::string>>> read_script_profiles(const ParsedArgs& args) {
  Shapes shared;
  for (const InputShape& s :
       parse_input_shapes("--input-shapes", args.list("--input-shapes").value_or(std::vector<std::string>())))
    set_shape(shared, s.name, python_dims(s));
  const size_t count = std::max(count_profiles(args), shared.empty() ? size_t{0} : size_t{1});
  std::vector<std::vector<std::vector<std::string>>> profiles;
  for (size_t i = 0; i < count; ++i) {
    Shapes current = shared, of_option[3];
    for (size_t k = 0; k < 3; ++k) {
      const auto uses = args.all(kProfileOptions[k]);
      if (i < uses.size())
        for (const InputShape& s : parse_input_shapes(kProfileOptions[k], uses[i]))
          set_shape(current, s.name, python_dims(s));
      of_option[k] = current;
    }
    for (size_t k = 0; k < 2; ++k)
      if (of_option[k].size() != of_option[2].size())
        log::critical(ErrorCode::kInvalidArgument,
                      "Mismatch in input names between {} shapes ({}) and maximum shapes ({})",
                      k == 0 ? "minimum" : "optimum", names_text(of_option[k]), names_text(of_option[2]));
    auto& profile = profiles.emplace_back();
    for (size_t n = 0; n < of_option[0].size(); ++n)
      profile.push_back({python_str_repr(of_option[0][n].first), of_option[0][n].second,
                         of_option[1][n].second, of_option[2][n].second});
  }
  return profiles;
}

int run_trt_config(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_model_options(args).path;
  for (const char* option : {"--seed", "--val-range", "--int-min", "--int-max", "--float-min", "--float-max",
                             "--iterations", "--load-inputs", "--data-loader-backend-module"})
    if (args.has(option))
      log::warning("{} has no effect on the script, which calibrates nothing; it is ignored.", option);
  const std::string& command = context.invocation().command_line;
  if (wants_cpp(args)) {
    refuse_tensorrt_options(args, config_option_names());
    warn_about_shapes(args);
    ScriptModel model;
    model.path = path;
    write_script(args, trt_config_cpp(model, command, args.text("-o").value()));
    return 0;
  }
  ScriptConfig config{.profiles = read_script_profiles(args)};
  for (const auto& [option, argument] : kFlags)
    if (args.has(option)) config.arguments.emplace_back(argument, "True");
  for (const auto& [option, argument] : kIntegers)
    if (const auto value = args.integer(option))
      config.arguments.emplace_back(argument, std::to_string(*value));
  if (const auto value = args.text("--precision-constraints"))
    config.arguments.emplace_back("precision_constraints", python_str_repr(*value));
  if (const auto value = args.text("--load-timing-cache"))
    config.arguments.emplace_back("load_timing_cache", python_str_repr(*value));
  write_script(args, trt_config_python(config, command));
  return 0;
}

}  // namespace

namespace command_template_trt_network {
constinit const Command def = {
    .name = "trt-network",
    .summary = "Write a script that makes a network.",
    .description =
        "Writes a script to start from: in Python one that makes a TensorRT network, in C++ one that makes a "
        "network for the engine. It begins with the model, if one is given.",
    .add_options = add_trt_network_options,
    .run = run_trt_network,
};
}  // namespace command_template_trt_network
namespace command_template_trt_config {
constinit const Command def = {
    .name = "trt-config",
    .summary = "Write a script that sets up a builder.",
    .description =
        "Writes a script to start from: in Python one that sets up TensorRT's builder, in C++ one that sets "
        "up the engine.",
    .add_options = add_trt_config_options,
    .run = run_trt_config,
};
}  // namespace command_template_trt_config
namespace command_template_onnx_gs {
constinit const Command def = {
    .name = "onnx-gs",
    .summary = "Write a script that edits a model.",
    .description =
        "Writes a script to start from that loads a model, edits it and saves it: in Python with "
        "ONNX-GraphSurgeon, in C++ with this project's graph API.",
    .add_options = add_onnx_gs_options,
    .run = run_onnx_gs,
};
}  // namespace command_template_onnx_gs

}  // namespace assay::cli
