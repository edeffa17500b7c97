// What can be used besides what is compiled in: the sets of operators, passes, tactics and backends, to which
// modules add.
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
  /// With everything that the manifests list.
  Registries();

  /// Adds everything that a module brings to these sets, or nothing: then it throws Error that names the
  /// module and what there is already.
  void add(const std::shared_ptr<Extension>& module);
  /// Operators, passes and tactics for sessions.
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
