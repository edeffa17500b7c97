// Memory of outputs, reused from run to run.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/arena.h"

namespace assay::engine {

/// A delivered tensor keeps its block; released blocks are reused.
class OutputBlocks {
 public:
  /// For the output of this index. Null when memory is refused.
  std::shared_ptr<Arena> take(size_t output, size_t bytes) noexcept;

 private:
  bool has_grown(size_t output, size_t bytes);

  std::vector<std::shared_ptr<Arena>> blocks_;
  std::vector<size_t> last_;  ///< bytes of each output the last time
};

}  // namespace assay::engine
