// The model to work on and the shapes of its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/args.h"
#include "run/data_loader.h"

namespace assay::cli {

struct ModelOptions {
  std::string path;  ///< absolute when the file exists; empty: none was given
  std::vector<InputShape> input_shapes;
  bool is_plan = false;             ///< an engine's plan instead of an ONNX model
  std::string network_script = {};  ///< FILE.py[:FUNCTION] that makes the network; `path` is then the file
  /// Another format than ONNX and plans: frozen, keras, ckpt, saved, torch; empty: one of those two.
  std::string foreign_format;
};

/// The kinds of files besides ONNX models that a command accepts.
enum class Plans : uint8_t {
  kRefused,     ///< none
  kScripts,     ///< scripts that make networks
  kAccepted,    ///< those, and an engine's plan
  kAndForeign,  ///< that, and formats that runners in Python read
};

/// The type of a file by its name and, if necessary,
/// its content: a word of --model-type. Empty: unknown.
std::string model_type_of(const std::string& path);

/// `model_file`, --model-type, --input-shapes. `is_required` makes the positional required; `shapes_help`
/// describes the use of the shapes, if not for generated data, and `shapes_name` the tensors they apply to.
void add_model_options(ArgParser& parser, bool is_required, const std::string& shapes_help = {},
                       const std::vector<std::string>& shapes_names = {"--input-shapes", "--inputs"},
                       Names shapes_name = Names::kInputs);
/// A required `model_file` alone, for tools that read only ONNX, whatever the file is called.
void add_onnx_model_option(ArgParser& parser, const std::string& name = "model_file",
                           const std::string& help = "The ONNX model.");
/// The path of that option: absolute when the file exists, with a warning when it does not.
std::string read_onnx_model_path(const ParsedArgs& args, const std::string& name = "model_file");
/// The command's option for input shapes; null when it has none.
const char* shapes_option(const ParsedArgs& args);
/// Warns when the file does not exist. Throws Error when, by its name or --model-type, it is neither an ONNX
/// model nor an accepted plan.
ModelOptions read_model_options(const ParsedArgs& args, Plans plans = Plans::kRefused);

}  // namespace assay::cli
