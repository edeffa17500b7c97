// What engines are built for and run on. Choosing, timing, running and saving plans ask it; nothing above
// this folder names a processor, or the library that its kernels come from.
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
  /// What plans depend on besides the network: the name, libraries of kernels with their versions and
  /// instruction sets, this program. A plan of another fingerprint is refused.
  virtual std::string fingerprint() const = 0;
  /// What times of kernels depend on besides the number of threads.
  virtual std::string timing_fingerprint() const = 0;
  /// Layouts that float32 images may have besides the row-major one, the usual one first.
  virtual std::vector<Layout> layouts() const = 0;
  /// Which ways to compute there are, unless the caller brings a set.
  virtual const TacticSet& tactics() const = 0;

  /// Memory for the values of a run. Throws Error when the process's budget (kUnsupported) or the system
  /// (kInvalidArgument) refuses.
  virtual std::unique_ptr<MemoryBlock> allocate(size_t bytes) const = 0;
  /// Seconds since any moment, when all that was run before is done.
  virtual double seconds() const = 0;
  /// Writes memory out of all caches, so that the next kernel reads it from memory.
  virtual void flush(const void* data, size_t bytes) const = 0;
};

/// The processor that this process runs on, with oneDNN.
const std::shared_ptr<const Target>& cpu_target();

}  // namespace assay::engine
