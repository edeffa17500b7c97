// Explanations of refused operands of kernels.
#pragma once

#include <string>

#include "engine/runtime/kernel.h"

namespace assay::engine {

/// A kernel that can explain a refusal.
class ComplainingKernel : public Kernel {
 public:
  /// After a refused run: the message of the operator's reference evaluation; empty when nothing is found.
  virtual std::string complaint(const KernelArgs& args) const = 0;
};

}  // namespace assay::engine
