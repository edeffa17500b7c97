// A block of the system's memory.
#pragma once

#include "base/memory_limit.h"
#include "engine/runtime/memory_block.h"

namespace assay::engine {

/// Large blocks request huge pages.
class Arena final : public MemoryBlock {
 public:
  /// Throws Error when the budget (kUnsupported) or the system (kInvalidArgument) refuses.
  explicit Arena(size_t bytes);
  ~Arena() override;

 private:
  MemoryShare share_;
};

}  // namespace assay::engine
