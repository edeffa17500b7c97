// The sets of operators, passes, tactics and
// backends: the built-in ones, and those of modules.
#pragma once

#include <memory>
#include <vector>

#include "assay/backend_set.h"
#include "assay/runtime.h"
#include "engine/tactics/tactic_set.h"
#include "extension/extension.h"
#include "ops/op_set.h"
#include "passes/pass_set.h"

namespace assay::extension {

struct Registries {
  /// Contains all entries of the manifests.
  Registries();

  /// Adds everything of a module to these sets, or nothing: then it throws Error naming the module and the
  /// existing entry.
  void add(const std::shared_ptr<Extension>& module);
  /// Sets the operators, passes and tactics of sessions.
  void give_to(SessionOptions& options) const;
  RuntimeOptions for_runtime() const;

  std::shared_ptr<OpSet> ops;
  std::shared_ptr<PassSet> passes;
  std::shared_ptr<engine::TacticSet> tactics;
  BackendSet backends;
  std::vector<std::shared_ptr<Extension>> extensions;
};

/// For errors: in the extension NAME (FILE).
std::string place_of(const Extension& module);

}  // namespace assay::extension
