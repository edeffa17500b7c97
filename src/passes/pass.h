// The interface of passes: one PassDef per pass, in a file src/passes/<name>.cpp, named once in passes.def.
//
// A pass preserves the model's results (up to rounding) and the names and types of its inputs and outputs.
// The pass manager owns everything around it: order, repetition, timing, verification, disabling, stopping
// early.
#pragma once

#include <optional>
#include <string_view>

#include "assay/graph.h"
#include "passes/patch.h"

namespace assay {

/// The code of a pass with its own data, such as one from an extension module.
class CustomPass {
 public:
  virtual ~CustomPass() = default;
  /// As PassDef::run.
  virtual bool run(Model& model) const = 0;
};

/// One line of passes.def. Exactly one of match, run and custom is set.
struct PassDef {
  std::string_view name;  ///< snake_case, as the file
  std::string_view summary;
  /// The conditions of its edit, in plain sentences: its checks (types, ranges, ranks, opset, constants).
  /// Undecidable conditions count as false. docs/reference/simplify.md lists them.
  std::string_view conditions;
  /// Examines one node and returns a possible edit, if any. Called until
  /// no node has an edit. During edits Graph::nodes() is unordered and
  /// includes removed nodes, so it may examine only the node's neighbours.
  std::optional<Patch> (*match)(const Node&, const PassContext&) = nullptr;
  /// Works on the whole model; true when it changed something.
  bool (*run)(Model&) = nullptr;
  const CustomPass* custom = nullptr;
};

}  // namespace assay
