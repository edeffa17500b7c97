// Backends in Python: classes that load a model and infer (docs/guide/runners.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/backend.h"
#include "script/reference.h"

namespace assay::script {

/// Names the class that runs a model.
struct RunnerReference {
  enum class Kind : uint8_t {
    kFile,        ///< a class in the user's file
    kShipped,     ///< one that comes with assay: shipped_runners()
    kEntryPoint,  ///< one that an installed package adds: list_entry_point_runners()
  };
  Kind kind = Kind::kFile;
  std::string name;        ///< path of the file, or name of the runner
  std::string class_name;  ///< of a file; empty: the only class with infer()

  /// For messages: `runner.py:MyRunner`, `the runner 'pytorch'`.
  std::string str() const;
};

/// FILE.py[:CLASS], as parse_reference() reads it, or the name of a runner that a package adds: a word
/// without dot and slash that is not a file. Throws parse_reference()'s Errors, and kInvalidArgument for a
/// file that is not Python.
RunnerReference parse_runner(std::string_view text);

/// A runner of python/runners.
struct ShippedRunner {
  std::string_view name;     ///< its file there: tensorflow, pytorch, tensorrt
  std::string_view package;  ///< that the interpreter must be able to import
  std::string_view
      variable;  ///< environment variable that names an interpreter, or a virtual environment, with it
};
const std::vector<ShippedRunner>& shipped_runners();
/// Throws Error (kNotFound) that lists the names.
RunnerReference shipped_runner(std::string_view name);

struct ScriptSessionOptions {
  /// Chooses the interpreter: find_interpreter(). Empty for a shipped runner: its environment variable takes
  /// precedence.
  std::string interpreter;
  /// Keyword arguments of the class, as texts.
  std::vector<std::pair<std::string, std::string>> options;
  bool judged = false;  ///< as in SessionOptions
};

/// Loads a model of any format: the class gets the file or folder at `model_path`. Throws Error
/// (kInvalidArgument) naming script, line and function for its exceptions and protocol violations;
/// kUnsupported when a shipped runner's package is missing.
std::unique_ptr<Session> open_script_session(const RunnerReference& runner, const std::string& model_path,
                                             const ScriptSessionOptions& options);
/// The same for an ONNX model, which is written to a temporary file unless it is one. Missing descriptions of
/// inputs and outputs are taken from the model.
std::unique_ptr<Session> open_script_session(const RunnerReference& runner, const ModelSource& source,
                                             const ScriptSessionOptions& options);

/// Empty when the runner can be used here; otherwise a sentence with the reason and the remedy. Starts a
/// process.
std::string why_not(const RunnerReference& runner, const ScriptSessionOptions& options);

/// A runner of an installed package: an entry point of the group assay.runners.
struct EntryPointRunner {
  std::string name;
  std::string value;  ///< the class: `package.module:Class`
  std::string package, version;
};
/// Those of the interpreter, by name. Throws Error when there is no interpreter.
std::vector<EntryPointRunner> list_entry_point_runners(const std::string& interpreter = {});

/// An option that a package adds to `run` by the entry points polygraphy.run.plugins.
struct PluginOption {
  std::vector<std::string> names;
  std::string help;
  std::string arity;  ///< none, one, optional, any, at least one
  std::vector<std::string> choices;
};
struct PluginOptionGroup {
  std::string title, description;
  std::vector<PluginOption> options;
};
struct RunPlugins {
  std::vector<PluginOptionGroup> groups;
  std::vector<PluginOption> runners;  ///< flags, each of a runner of that name (without dashes)
  std::vector<std::string> problems;  ///< why a package's options are missing
};
/// Those of the interpreter. Throws Error when there is no interpreter, or no module polygraphy for packages
/// that need it.
RunPlugins list_run_plugins(const std::string& interpreter = {});

}  // namespace assay::script
