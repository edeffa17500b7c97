#include "cli/options/model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/values.h"
#include "onnx/forms/form.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<const char*, const char*> kTypeOfExtension[] = {
    {".onnx", "onnx"},
    {".hdf5", "keras"},
    {".uff", "uff"},
    {".prototxt", "caffe"},
    {".engine", "engine"},
    {".plan", "engine"},
    {".py", "trt-network-script"},
    {".graphdef", "frozen"},
    {".pb", "frozen"},
    {".h5", "keras"},
    {".keras", "keras"},
    {".pt", "torch"},
    {".pth", "torch"},
    {".pt2", "torch"},
};

/// The name of the option for input shapes, by command.
constexpr const char* kShapesOptions[] = {"--input-shapes", "--model-input-shapes",
                                          "--override-input-shapes"};

/// `model.onnx:function` names the file before the colon, unless a file has the whole name.
std::string path_of(const std::string& word) {
  const size_t colon = word.rfind(':');
  return colon == std::string::npos || fs::exists(word) ? word : word.substr(0, colon);
}

bool holds_onnx_text(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) &&
         onnx::form_of(/*path=*/"", MappedFile::open(path)->bytes()) == onnx::ModelForm::kProtoText;
}

std::string type_of(const ParsedArgs& args, const std::string& path) {
  if (const auto type = args.text("--model-type")) return *type;
  if (const std::string type = model_type_of(path); !type.empty()) return type;
  log::critical(ErrorCode::kInvalidArgument,
                "Could not automatically determine model type for: {}\n"
                "Please explicitly specify the type with the --model-type option",
                path);
}

}  // namespace

std::string model_type_of(const std::string& path) {
  if (fs::is_directory(path)) return fs::exists(fs::path(path) / "saved_model.pb") ? "saved" : "ckpt";
  const std::string extension = fs::path(path).extension().string();
  // Caffe's files have the extension of ONNX's text-format protobuf; their content decides.
  const bool may_be_caffe = extension == ".prototxt";
  if (may_be_caffe ? holds_onnx_text(path) : onnx::form_of_name(path) != onnx::ModelForm::kBinary)
    return "onnx";
  for (const auto& [known, type] : kTypeOfExtension)
    if (extension == known) return type;
  return {};
}

void add_model_options(ArgParser& parser, bool is_required, const std::string& shapes_help,
                       const std::vector<std::string>& shapes_names, Names shapes_name) {
  std::vector<Option> options = poly::options_of("Model");
  for (Option& o : options) {
    if (o.is_positional() && is_required) o.arity = Arity::kOne;
    if (o.names.front() != "--input-shapes") continue;
    o.names = shapes_names;
    o.names_what = shapes_name;
    if (!shapes_help.empty()) o.help = shapes_help;
  }
  parser.add_group("Model").options = std::move(options);
}

void add_onnx_model_option(ArgParser& parser, const std::string& name, const std::string& help) {
  parser.add_group("Model").options = {{.names = {name}, .help = help}};
}

std::string read_onnx_model_path(const ParsedArgs& args, const std::string& name) {
  std::string path = path_of(args.text(name).value());
  std::error_code ec;
  if (fs::exists(path, ec)) return fs::absolute(path).lexically_normal().string();
  log::warning("Model path does not exist: {}", path);
  return path;
}

const char* shapes_option(const ParsedArgs& args) {
  for (const char* name : kShapesOptions)
    if (args.declares(name)) return name;
  return nullptr;
}

ModelOptions read_model_options(const ParsedArgs& args, Plans plans) {
  ModelOptions options;
  if (const char* name = shapes_option(args))
    if (const auto shapes = args.list(name)) options.input_shapes = parse_input_shapes(name, *shapes);
  if (!args.text("model_file")) return options;
  options.path = read_onnx_model_path(args);
  const std::string type = type_of(args, options.path);
  options.is_plan = type == "engine";
  constexpr const char* kForeign[] = {"frozen", "keras", "ckpt", "saved", "torch"};
  if (plans == Plans::kAndForeign &&
      std::find(std::begin(kForeign), std::end(kForeign), type) != std::end(kForeign))
    options.foreign_format = type;
  if (type == "trt-network-script" && plans != Plans::kRefused)
    options.network_script = args.text("model_file").value();
  if (type != "onnx" && options.foreign_format.empty() && options.network_script.empty() &&
      !(options.is_plan && plans >= Plans::kAccepted))
    log::critical(ErrorCode::kUnsupported,
                  "{} is a model of type {}, and this build reads ONNX models only. {}", options.path, type,
                  type == "engine" ? "Give the ONNX model that the plan was built from."
                                   : "Convert it to ONNX, or say --model-type onnx if it is one.");
  return options;
}

}  // namespace assay::cli
