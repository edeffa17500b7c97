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
  /// The passes for `disabled` and for pipelines; null: the built-in ones.
  std::shared_ptr<const PassSet> set;
  /// Names of disabled passes.
  std::vector<std::string> disabled;
  /// Maximum total number of edits: for finding the edit that breaks a model.
  int64_t max_edits = std::numeric_limits<int64_t>::max();
  /// Check the graph after every pass.
  bool verify = false;
  /// Also edit the bodies of If, Loop and Scan, by passes that examine one node.
  bool recurse_subgraphs = false;
};

inline const PassSet& passes_of(const PassOptions& options) {
  return options.set != nullptr ? *options.set : built_in_passes();
}

/// The report of one pass.
struct PassReport {
  std::string pass;
  int64_t edits = 0;
  double seconds = 0;
};

/// Runs the passes in order, each until it finds nothing more. Removes unreferenced values. Throws Error
/// (kInternal) naming the pass when it corrupts the graph or does not terminate, and Error (kInvalidArgument)
/// when `disabled` has an unknown name.
std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options = {});
/// The same, where `allows` is asked before each edit.
std::vector<PassReport> run_passes(Model& model, std::span<const PassDef* const> passes,
                                   const PassOptions& options, const AllowsEdit& allows);

/// Throws Error (kInternal) naming the first violated invariant: nodes follow their inputs, producers and
/// consumers are consistent, no value is both constant and produced, outputs have a source.
void verify_graph(const Graph& graph);

}  // namespace assay
