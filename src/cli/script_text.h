// The texts of `assay template onnx-gs`, trt-network and trt-config.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/onnx_model.h"

namespace assay::cli {

/// The loading of the model in a script, before its own part.
struct ScriptModel {
  std::string path;  ///< empty: none
  ImportOptions import;
  bool infer_shapes = false;
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs, exclude_outputs;
  bool convert_to_fp16 = false;

  /// True when the file is used unchanged.
  bool is_unchanged() const;
};

/// The settings of trt-config: keyword arguments of Polygraphy's CreateConfig with their values in Python.
struct ScriptConfig {
  std::vector<std::pair<std::string, std::string>> arguments;
  /// For each profile the calls of Profile.add(): name, then the three shapes, in Python.
  std::vector<std::vector<std::vector<std::string>>> profiles;
};

/// The text as a one-line comment of Python or C++ in valid UTF-8, whatever names contain.
std::string in_one_line(const std::string& text);

/// `command` is the command line that the first line shows; `saved_path` is where the script saves the model.
std::string onnx_gs_python(const ScriptModel& model, const std::string& saved_path,
                           const std::string& command);
/// The C++ forms are for the file `source`, which the build command names.
std::string onnx_gs_cpp(const ScriptModel& model, const std::string& saved_path, const std::string& command,
                        const std::string& source);
/// A function load_network for TensorRT; `arguments` are those of the loader of the network besides the
/// model.
std::string trt_network_python(const ScriptModel& model, const std::vector<std::string>& arguments,
                               const std::string& command);
/// A program that makes a network with the graph API and runs it on the engine.
std::string trt_network_cpp(const ScriptModel& model, const std::string& command, const std::string& source);
/// A function load_config for TensorRT.
std::string trt_config_python(const ScriptConfig& config, const std::string& command);
/// A program that opens the model, if there is one, on the engine with custom settings.
std::string trt_config_cpp(const ScriptModel& model, const std::string& command, const std::string& source);

}  // namespace assay::cli
