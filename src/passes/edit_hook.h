// Asking before each edit of a pass.
#pragma once

#include <functional>

#include "passes/pass.h"

namespace assay {

/// An edit that a pass is about to make.
struct PassEdit {
  const PassDef& pass;
  /// Where it was found, what it does, and in what surroundings; all null for a pass that works on the whole
  /// model, which is one edit.
  const Node* node = nullptr;
  const Patch* patch = nullptr;
  const PassContext* context = nullptr;
};

/// Asked before each edit, which is not made if it says no; the same edit may be asked about again. Empty:
/// all are made.
using AllowsEdit = std::function<bool(const PassEdit&)>;

}  // namespace assay
