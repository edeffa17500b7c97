// Finds all defects of a model, as `assay check lint` does.
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

/// Severity of a finding. One exception makes the model invalid.
enum class Level : uint8_t { kException, kWarning, kInfo };
/// exception, warning, info.
std::string_view level_name(Level level);

struct Finding {
  std::string rule;  ///< its name: damaged-file, undefined-name, ...
  Level level = Level::kInfo;
  std::string source;  ///< origin: onnx_loader, onnx_checker, onnx_graphsurgeon, onnxruntime, assay
  std::string message;
  std::string node;     ///< of the main graph; empty: the finding concerns the whole model
  std::string op_type;  ///< that node's operator
};

struct LintOptions {
  std::string path;
  ImportOptions import = {};
  /// Shapes that replace the declared ones of the main graph's inputs; unknown names are an error.
  std::vector<std::pair<std::string, Dims>> input_shapes = {};
  /// Report only findings that upstream reports, too.
  bool upstream_only = false;
  /// Runs the model, and where that fails each node; null: nothing is run.
  const Backend* backend = nullptr;
  SessionOptions session = {};
  /// Data for the inputs; called when the backend is available. Throws Error if there are none.
  std::function<TensorList(const std::vector<TensorInfo>&)> feed = {};
  /// Fail without data. False: only rules that need no data are checked.
  bool needs_data = false;
  /// Called with each finding as it arises, and with a sentence when less than requested is checked.
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
/// defects of the model are findings.
Findings lint_model(const LintOptions& options);

/// `LINT | Name: <node>, Op: <operator> | <message>`: a line in upstream's format.
std::string finding_text(const Finding& finding);
/// Upstream's report, with the names of our rules.
std::string findings_json(const Findings& findings);

}  // namespace lint
}  // namespace assay
