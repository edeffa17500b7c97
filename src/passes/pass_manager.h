// Runs passes over a model.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "passes/edit_hook.h"
#include "passes/pass_set.h"

namespace assay {

struct PassOptions {
  /// Where `disabled` finds names, and pipelines their passes; null: the built-in ones.
  std::shared_ptr<const PassSet> set;
  /// Names of passes that are left out.
  std::vector<std::string> disabled;
  /// Stop after so many edits in all: the way to find the edit that breaks a model.
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  /// Check the graph after every pass.
  bool verify = false;
  /// Also edit the bodies of If, Loop and Scan: passes that look at one node do.
  bool recurse_subgraphs = false;
};

inline const PassSet& passes_of(const PassOptions& options) {
  return options.set != nullptr ? *options.set : built_in_passes();
}

/// What one pass did.
struct PassReport {
  std::string pass;
  int64_t edits = 0;
  double seconds = 0;
};

/// Runs the passes in order, each until it finds nothing more. Values that nothing refers to any more are
/// removed. Throws Error (kInternal) naming the pass when it breaks the graph or does not come to an end, and
/// Error (kInvalidArgument) when `disabled` names no pass.
std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options = {});
/// The same, where `allows` is asked before each edit.
std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options, const AllowsEdit& allows);

/// Throws Error (kInternal) that names the first broken rule: nodes after what they use, producers and
/// consumers that know each other, no value both constant and produced, outputs that something gives.
void verify_graph(const Graph& graph);

}  // namespace assay
