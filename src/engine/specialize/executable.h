// The contexts of one user of a network, by the shapes of its inputs.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <unordered_map>

#include "engine/runtime/context.h"
#include "engine/runtime/memory_block.h"
#include "engine/specialize/specializer.h"

namespace assay::engine {

/// Contexts of recently used plans (PlanCache), which share one arena. Several may share a Specializer, and
/// with it plans and weights. Not thread-safe; with an existing context for the shapes it neither locks nor
/// allocates.
class Executable {
 public:
  explicit Executable(std::shared_ptr<Specializer> plans);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// The context for these inputs, in the order of the network's; created on demand. Valid until the next
  /// call. Throws Error. A plan for many shapes is used until the same shapes have occurred kOften times;
  /// never if `alone`.
  Context& context_for(std::span<const Tensor> inputs, bool alone = false);
  static constexpr int kOften = 16;
  /// The key of the plan of the last context returned by context_for().
  const PlanKey& key() const;
  /// Creates the context for a plan in advance; context_for() assigns its memory.
  Context& add(std::shared_ptr<const ReadyPlan> plan);
  /// Memory for intermediate values, at a multiple of
  /// kAlignment, in place of the arena; null: the arena.
  void set_memory(char* memory, size_t bytes);
  /// See Context::set_cancel_flag(); for contexts created later.
  void set_cancel_flag(const std::atomic<bool>* flag) { cancel_ = flag; }

  const std::shared_ptr<Specializer>& plans() const { return plans_; }

 private:
  struct Entry;
  friend const ReadyPlan& plan_in(const Entry& entry);
  void give_memory(Context& context);
  Entry* find_open(std::span<const Tensor> inputs);
  bool is_often(std::span<const Tensor> inputs);

  std::shared_ptr<Specializer> plans_;
  std::unique_ptr<MemoryBlock> arena_;
  char* given_ = nullptr;
  size_t given_bytes_ = 0;
  const std::atomic<bool>* cancel_ = nullptr;
  std::unique_ptr<PlanCache<Entry>> entries_;
  std::unordered_map<size_t, int> runs_;  ///< of plans that serve many shapes, by the hash of these
};

}  // namespace assay::engine
