// Everything that is wrong with a model: what `assay check lint` does.
//
//   const lint::Findings found = lint::lint_model({.path = "model.onnx"});
//   for (const lint::Finding& f : found.entries) std::puts(lint::finding_text(f).c_str());
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/io.h"

namespace ASSAY_API assay {
namespace lint {

/// How bad it is. One exception makes the model invalid.
enum class Level : uint8_t { kException, kWarning, kInfo };
/// exception, warning, info.
std::string_view level_name(Level level);

struct Finding {
  std::string rule;  ///< its name: damaged-file, undefined-name, ...
  Level level = Level::kInfo;
  std::string source;  ///< who complains: onnx_loader, onnx_checker, onnx_graphsurgeon, onnxruntime, assay
  std::string message;
  std::string node;     ///< of the main graph; empty: it concerns the whole model
  std::string op_type;  ///< that node's operator
};

struct LintOptions {
  std::string path;
  ImportOptions import = {};
  /// Extents that the main graph's inputs get instead of the declared ones; unknown names are an error.
  std::vector<std::pair<std::string, Dims>> input_shapes = {};
  /// Only what upstream finds, too.
  bool upstream_only = false;
  /// Runs the model, and where that fails each node; null: nothing is run.
  const Backend* backend = nullptr;
  SessionOptions session = {};
  /// Data for the inputs; called when the backend is there. Throws Error where none can be made.
  std::function<TensorList(const std::vector<TensorInfo>&)> feed = {};
  /// Somebody named the data: without them lint_model() fails. Else the rules that need none are checked.
  bool needs_data = false;
  /// Called with each finding as it is made, and with a sentence when less than was asked for is checked.
  std::function<void(const Finding&)> on_finding = {};
  std::function<void(const std::string&)> on_warning = {};
  /// Called with the main graph's inputs when input_shapes has changed them.
  std::function<void(const std::vector<TensorInfo>&)> on_input_shapes = {};
};

struct Findings {
  std::vector<Finding> entries;
  std::vector<std::string> passing, failing;  ///< nodes of the main graph
  bool upstream_only = false;
  bool is_valid() const;
};

/// Checks the model. Throws Error for a file that cannot be opened and for options that do not fit the model;
/// what is wrong with the model is found.
Findings lint_model(const LintOptions& options);

/// `LINT | Name: <node>, Op: <operator> | <message>`: upstream's line.
std::string finding_text(const Finding& finding);
/// Upstream's report, and the names of our rules.
std::string findings_json(const Findings& findings);

}  // namespace lint
}  // namespace assay
