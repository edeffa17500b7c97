// What a graph pass is: one PassDef per pass, in one file src/passes/<name>.cpp, named once in passes.def.
//
// A pass keeps what the model computes (up to rounding) and the names and types of its inputs and outputs.
// The pass manager owns everything around it: order, repetition, timing, verification, disabling, stopping
// early.
#pragma once

#include <optional>
#include <string_view>

#include "assay/graph.h"
#include "passes/patch.h"

namespace assay {

/// The code of a pass that has data of its own, as those from extension modules.
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
  /// When its edit holds, in plain sentences: what it checks (types, ranges, ranks, opset, what must be
  /// constant). What cannot be decided counts as not holding. docs/reference/simplify.md lists them.
  std::string_view conditions;
  /// Looks at one node and returns the edit that it allows, if any. Called until no node gives an edit. While
  /// edits are made Graph::nodes() is in no order and holds removed nodes, so it looks at the node's
  /// neighbours only.
  std::optional<Patch> (*match)(const Node&, const PassContext&) = nullptr;
  /// Works on the whole model; true when it changed something.
  bool (*run)(Model&) = nullptr;
  const CustomPass* custom = nullptr;
};

}  // namespace assay
