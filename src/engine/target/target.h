// The target of engines. Choosing, timing, running and saving plans use it; nothing above this folder names a
// processor, or the library of its kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/runtime/memory_block.h"

namespace assay::engine {

class TacticSet;

class Target {
 public:
  virtual ~Target() = default;

  /// "x86-64", "aarch64".
  virtual std::string name() const = 0;
  /// The environment of plans: the name, libraries of kernels with their versions and instruction sets, this
  /// program. A plan of another fingerprint is refused.
  virtual std::string fingerprint() const = 0;
  /// The environment of kernel times, except the number of threads.
  virtual std::string timing_fingerprint() const = 0;
  /// Layouts that float32 images may have besides the row-major one, the usual one first.
  virtual std::vector<Layout> layouts() const = 0;
  /// The tactics, unless the caller supplies a set.
  virtual const TacticSet& tactics() const = 0;

  /// Memory for the values of a run. Throws Error when the process's budget (kUnsupported) or the system
  /// (kInvalidArgument) refuses.
  virtual std::unique_ptr<MemoryBlock> allocate(size_t bytes) const = 0;
  /// Seconds since an arbitrary moment, after completion of all earlier work.
  virtual double seconds() const = 0;
  /// Writes memory out of all caches, so that the next kernel reads it from memory.
  virtual void flush(const void* data, size_t bytes) const = 0;
};

/// The processor that this process runs on, with oneDNN.
const std::shared_ptr<const Target>& cpu_target();

}  // namespace assay::engine
