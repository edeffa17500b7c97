// What is wrong with the operands of a kernel that refused them.
#pragma once

#include <string>

#include "engine/runtime/kernel.h"

namespace assay::engine {

/// A kernel that can say it.
class ComplainingKernel : public Kernel {
 public:
  /// After a run that refused: in the words of the operator's evaluation; empty when nothing is found.
  virtual std::string complaint(const KernelArgs& args) const = 0;
};

}  // namespace assay::engine
