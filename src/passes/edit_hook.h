// A hook that is called before each edit of a pass.
#pragma once

#include <functional>

#include "passes/pass.h"

namespace assay {

/// An edit that a pass is about to make.
struct PassEdit {
  const PassDef& pass;
  /// Its node, patch and context; all null for a
  /// pass over the whole model, which is one edit.
  const Node* node = nullptr;
  const Patch* patch = nullptr;
  const PassContext* context = nullptr;
};

/// Called before each edit, which is not made if it returns false; may be called again for the same edit.
/// Empty: all are made.
using AllowsEdit = std::function<bool(const PassEdit&)>;

}  // namespace assay
