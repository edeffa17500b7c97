#include "engine/planner/memory_planner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/runtime/arena.h"

namespace assay::engine {

namespace {

/// The value that a value lies in at last, and its offset there. Shortens the way for the next time.
std::pair<int32_t, int64_t> find_root(std::vector<ValueAlias>& aliases, int32_t v) {
  int64_t offset = 0;
  int32_t root = v;
  for (; aliases[static_cast<size_t>(root)].of >= 0; root = aliases[static_cast<size_t>(root)].of)
    offset += aliases[static_cast<size_t>(root)].offset;
  int64_t rest = offset;
  while (v != root) {
    ValueAlias& alias = aliases[static_cast<size_t>(v)];
    const ValueAlias next = alias;
    alias = {root, rest};
    rest -= next.offset;
    v = next.of;
  }
  return {root, offset};
}

constexpr int kForever = std::numeric_limits<int>::max();

/// Values that share one block of memory. Every value lies at an offset in its root's block.
class Sharing {
 public:
  explicit Sharing(LoweredPlan& lowered) : plan_(lowered.plan), parent_(lowered.aliases) {
    first_.assign(plan_.values.size(), kForever);
    last_.assign(plan_.values.size(), -1);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const int32_t id : plan_.steps[s].inputs) touch(id, static_cast<int>(s));
      for (const int32_t id : plan_.steps[s].outputs) touch(id, static_cast<int>(s));
    }
    bytes_.resize(plan_.values.size());
    for (size_t v = 0; v < bytes_.size(); ++v) bytes_[v] = static_cast<int64_t>(plan_.values[v].bytes());
    for (size_t v = 0; v < parent_.size(); ++v) {
      if (parent_[v].of < 0) continue;
      const auto [root, offset] = find(static_cast<int32_t>(v));
      merge_life(root, static_cast<int32_t>(v));
    }
  }

  /// The root of a value, and its offset in the root's block.
  std::pair<int32_t, int64_t> find(int32_t v) const { return find_root(parent_, v); }
  /// True when the block is the arena's to give, and `v` covers all of it.
  bool owns_block(int32_t v) const {
    const auto [root, offset] = find(v);
    return storage(root) == Storage::kArena && offset == 0 &&
           bytes_[static_cast<size_t>(root)] == bytes_[static_cast<size_t>(v)];
  }
  /// Puts the whole block of `v` into the block of `into`, `offset` bytes from `into`.
  void join(int32_t v, int32_t into, int64_t offset) {
    const int32_t root = find(v).first;
    const auto [target, base] = find(into);
    parent_[static_cast<size_t>(root)] = {into, offset};
    merge_life(target, root);
  }
  Storage storage(int32_t v) const { return plan_.values[static_cast<size_t>(v)].storage; }
  int first(int32_t root) const { return first_[static_cast<size_t>(root)]; }
  int last(int32_t root) const { return last_[static_cast<size_t>(root)]; }
  int64_t bytes(int32_t v) const { return bytes_[static_cast<size_t>(v)]; }

 private:
  void touch(int32_t id, int step) {
    if (id < 0) return;
    first_[static_cast<size_t>(id)] = std::min(first_[static_cast<size_t>(id)], step);
    last_[static_cast<size_t>(id)] = std::max(last_[static_cast<size_t>(id)], step);
  }
  void merge_life(int32_t root, int32_t v) {
    first_[static_cast<size_t>(root)] =
        std::min(first_[static_cast<size_t>(root)], first_[static_cast<size_t>(v)]);
    last_[static_cast<size_t>(root)] =
        std::max(last_[static_cast<size_t>(root)], last_[static_cast<size_t>(v)]);
  }

  Plan& plan_;
  std::vector<ValueAlias>& parent_;
  std::vector<int> first_, last_;  // of a root: of everything in its block
  std::vector<int64_t> bytes_;
};

/// A concatenation's inputs are computed where they are wanted.
void place_parts(Step& step, Sharing& sharing) {
  if (step.placements.empty()) return;
  const int32_t whole = step.outputs[0];
  for (Step::Placement& p : step.placements) {
    const int32_t part = step.inputs[static_cast<size_t>(p.input)];
    const Storage storage = sharing.storage(sharing.find(whole).first);
    if (storage != Storage::kArena && storage != Storage::kOutput) continue;
    if (p.offset % static_cast<int64_t>(kAlignment) != 0 || !sharing.owns_block(part)) continue;
    if (sharing.find(part).first == sharing.find(whole).first) continue;
    sharing.join(part, whole, p.offset);
    p.done = true;
  }
}

/// An output takes the place of an input that nothing reads later.
void reuse_inputs(Step& step, int index, Sharing& sharing) {
  const auto wishes = std::exchange(step.in_place, {});
  for (const auto& [out, in] : wishes) {
    const int32_t target = step.outputs[static_cast<size_t>(out)],
                  source = step.inputs[static_cast<size_t>(in)];
    if (target < 0 || source < 0 || !sharing.owns_block(target) ||
        sharing.bytes(target) != sharing.bytes(source))
      continue;
    const int32_t root = sharing.find(source).first;
    if (sharing.storage(root) != Storage::kArena || sharing.last(root) > index) continue;
    if (root == sharing.find(target).first) continue;
    // Another input that lies in the same block would be overwritten while it is read.
    const bool read_twice = std::count_if(step.inputs.begin(), step.inputs.end(), [&](int32_t id) {
                              return id >= 0 && sharing.find(id).first == root;
                            }) > 1;
    if (read_twice) continue;
    sharing.join(target, source, 0);
    step.in_place.emplace_back(out, in);
    return;
  }
}

}  // namespace

void resolve_outputs(LoweredPlan& lowered) {
  Plan& plan = lowered.plan;
  std::vector<int> written(plan.values.size(), -1);
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (const int32_t id : plan.steps[s].outputs)
      if (id >= 0) written[static_cast<size_t>(id)] = static_cast<int>(s);
  struct Copy {
    int after;
    int32_t from, to;
  };
  std::vector<Copy> copies;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const int32_t id = plan.outputs[i];
    const auto [root, offset] = find_root(lowered.aliases, id);
    PlanValue& block = plan.values[static_cast<size_t>(root)];
    if (block.storage == Storage::kTensor) continue;
    if (block.storage == Storage::kArena && offset == 0 &&
        block.bytes() == plan.values[static_cast<size_t>(id)].bytes()) {
      block.storage = Storage::kOutput;
      block.slot = static_cast<int32_t>(i);
      continue;
    }
    PlanValue copy = plan.values[static_cast<size_t>(id)];
    copy.storage = Storage::kOutput;
    copy.slot = static_cast<int32_t>(i);
    plan.outputs[i] = static_cast<int32_t>(plan.values.size());
    copies.push_back({written[static_cast<size_t>(root)], id, plan.outputs[i]});
    plan.values.push_back(std::move(copy));
    lowered.aliases.emplace_back();
  }
  if (copies.empty()) return;
  std::stable_sort(copies.begin(), copies.end(),
                   [](const Copy& a, const Copy& b) { return a.after < b.after; });
  std::vector<Step> steps;
  steps.reserve(plan.steps.size() + copies.size());
  auto next = copies.begin();
  const auto add_copies = [&](int after) {
    for (; next != copies.end() && next->after == after; ++next)
      steps.push_back({.tactic = "copy", .inputs = {next->from}, .outputs = {next->to}});
  };
  add_copies(-1);  // before the first step
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    steps.push_back(std::move(plan.steps[s]));
    add_copies(static_cast<int>(s));
  }
  plan.steps = std::move(steps);
}

void place_values(LoweredPlan& lowered) {
  Plan& plan = lowered.plan;
  Sharing sharing(lowered);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    place_parts(plan.steps[s], sharing);
    reuse_inputs(plan.steps[s], static_cast<int>(s), sharing);
  }
  std::vector<Buffer> buffers;
  std::vector<size_t> buffer_of(plan.values.size());
  for (size_t v = 0; v < plan.values.size(); ++v) {
    const auto id = static_cast<int32_t>(v);
    if (sharing.find(id).first != id || plan.values[v].storage != Storage::kArena) continue;
    buffer_of[v] = buffers.size();
    const bool used = sharing.last(id) >= 0;
    buffers.push_back(
        {used ? sharing.bytes(id) : 0, used ? sharing.first(id) : 0, used ? sharing.last(id) : 0});
  }
  const size_t value_buffers = buffers.size();
  for (size_t s = 0; s < plan.steps.size(); ++s)
    buffers.push_back({plan.steps[s].scratch_bytes, static_cast<int>(s), static_cast<int>(s)});
  const std::vector<int64_t> offsets = assign_offsets(buffers, plan.arena_bytes);
  for (size_t v = 0; v < plan.values.size(); ++v) {
    const auto [root, offset] = sharing.find(static_cast<int32_t>(v));
    PlanValue& value = plan.values[v];
    const PlanValue block = plan.values[static_cast<size_t>(root)];
    const bool is_root = root == static_cast<int32_t>(v);
    if (!is_root) value.storage = block.storage;
    if (!is_root) value.slot = block.slot;
    value.offset = offset;
    if (value.storage == Storage::kArena) value.offset += offsets[buffer_of[static_cast<size_t>(root)]];
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) plan.steps[s].scratch_offset = offsets[value_buffers + s];
}

}  // namespace assay::engine
