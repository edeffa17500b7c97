#include "engine/planner/memory_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/runtime/arena.h"

namespace assay::engine::memory_planner_test {
namespace {

bool lives_overlap(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }

TEST(AssignOffsets, BuffersInUseTogetherNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int steps = 1 + static_cast<int>(random() % 40);
    std::vector<Buffer> buffers(1 + random() % 60);
    int64_t largest_sum = 0;
    for (Buffer& b : buffers) {
      b.bytes = random() % 8 == 0 ? 0 : static_cast<int64_t>(random() % 5000);
      b.first = static_cast<int>(random() % static_cast<unsigned>(steps));
      b.last = b.first + static_cast<int>(random() % 6);
    }
    int64_t total = -1;
    const std::vector<int64_t> offsets = assign_offsets(buffers, total);
    for (size_t i = 0; i < buffers.size(); ++i) {
      ASSERT_EQ(offsets[i] % static_cast<int64_t>(kAlignment), 0);
      ASSERT_LE(offsets[i] + buffers[i].bytes, total);
      for (size_t k = 0; k < i; ++k) {
        if (!lives_overlap(buffers[i], buffers[k]) || buffers[i].bytes == 0 || buffers[k].bytes == 0)
          continue;
        const bool apart =
            offsets[i] + buffers[i].bytes <= offsets[k] || offsets[k] + buffers[k].bytes <= offsets[i];
        ASSERT_TRUE(apart) << "round " << round << ": buffers " << i << " and " << k;
      }
    }
    // No plan can be smaller than what is alive at once, and none should take more than everything side by
    // side.
    int64_t lower = 0;
    for (int s = 0; s < steps + 6; ++s) {
      int64_t alive = 0;
      for (const Buffer& b : buffers)
        if (b.first <= s && s <= b.last)
          alive += static_cast<int64_t>(align_up(static_cast<size_t>(b.bytes)));
      lower = std::max(lower, alive);
    }
    for (const Buffer& b : buffers)
      largest_sum += static_cast<int64_t>(align_up(static_cast<size_t>(b.bytes)));
    ASSERT_GE(total, lower);
    ASSERT_LE(total, largest_sum);
  }
}

/// The most that is in use at once.
int64_t most_alive(const std::vector<Buffer>& buffers) {
  std::map<int, int64_t> changes;
  for (const Buffer& b : buffers) {
    const auto size = static_cast<int64_t>(align_up(static_cast<size_t>(b.bytes)));
    changes[b.first] += size;
    changes[b.last + 1] -= size;
  }
  int64_t alive = 0, most = 0;
  for (const auto& [step, change] : changes) most = std::max(most, alive += change);
  return most;
}

TEST(AssignOffsets, TensOfThousandsOfBuffersNeverOverlap) {
  std::mt19937 random(3);
  std::vector<Buffer> buffers(30000);
  for (size_t i = 0; i < buffers.size(); ++i) {
    buffers[i].bytes = static_cast<int64_t>(random() % 5000);
    buffers[i].first = static_cast<int>(random() % buffers.size());
    buffers[i].last = buffers[i].first + static_cast<int>(random() % 20);
  }
  int64_t total = -1;
  const std::vector<int64_t> offsets = assign_offsets(buffers, total);
  struct Event {
    int step;
    bool begins;
    size_t buffer;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes == 0) continue;
    events.push_back({buffers[i].first, true, i});
    events.push_back({buffers[i].last + 1, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.step, a.begins) < std::pair(b.step, b.begins);
  });
  std::map<int64_t, int64_t> alive;  // where they begin and end
  for (const Event& e : events) {
    const int64_t begin = offsets[e.buffer], end = begin + buffers[e.buffer].bytes;
    if (!e.begins) {
      alive.erase(begin);
      continue;
    }
    ASSERT_EQ(begin % static_cast<int64_t>(kAlignment), 0);
    ASSERT_LE(end, total);
    const auto next = alive.lower_bound(begin);
    ASSERT_TRUE(next == alive.end() || end <= next->first);
    ASSERT_TRUE(next == alive.begin() || std::prev(next)->second <= begin);
    alive.emplace(begin, end);
  }
  EXPECT_LT(total, 2 * most_alive(buffers));
}

TEST(AssignOffsets, LongChainsNeedLittle) {
  std::vector<Buffer> chain;
  for (int i = 0; i < 100000; ++i) chain.push_back({1000, i, i + 1});
  int64_t total = 0;
  assign_offsets(chain, total);
  EXPECT_EQ(total, 2048);
}

TEST(AssignOffsets, ReusesWhatIsFree) {
  const std::vector<Buffer> chain = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  int64_t total = 0;
  assign_offsets(chain, total);
  EXPECT_EQ(total, 2048);
}

/// A chain of steps on float32 vectors of `n` elements: step i reads value i and writes value i + 1.
LoweredPlan chain_plan(int steps, int64_t n) {
  LoweredPlan lowered;
  Plan& plan = lowered.plan;
  for (int i = 0; i <= steps; ++i) {
    plan.values.push_back({.name = "v" + std::to_string(i),
                           .dtype = DType::kFloat32,
                           .has_shape = true,
                           .shape = {n},
                           .storage = i == 0 ? Storage::kInput : Storage::kArena,
                           .slot = i == 0 ? 0 : -1});
    lowered.aliases.emplace_back();
  }
  for (int i = 0; i < steps; ++i) plan.steps.push_back({.tactic = "test", .inputs = {i}, .outputs = {i + 1}});
  plan.inputs = {0};
  plan.outputs = {steps};
  return lowered;
}

TEST(PlaceValues, AnOutputIsComputedInTheMemoryGivenForIt) {
  LoweredPlan lowered = chain_plan(3, 100);
  resolve_outputs(lowered);
  place_values(lowered);
  EXPECT_EQ(lowered.plan.values[3].storage, Storage::kOutput);
  EXPECT_EQ(lowered.plan.steps.size(), 3u);
}

TEST(PlaceValues, AnInputGivenOutIsCopied) {
  LoweredPlan lowered = chain_plan(1, 100);
  lowered.plan.outputs = {0, 1, 1};
  resolve_outputs(lowered);
  place_values(lowered);
  ASSERT_EQ(lowered.plan.steps.size(), 3u);
  int copies = 0;
  for (const Step& s : lowered.plan.steps) copies += s.tactic == "copy";
  EXPECT_EQ(copies, 2);
  for (size_t i = 0; i < 3; ++i) {
    const PlanValue& v = lowered.plan.values[static_cast<size_t>(lowered.plan.outputs[i])];
    EXPECT_EQ(v.storage, Storage::kOutput);
    EXPECT_EQ(v.slot, static_cast<int32_t>(i));
  }
}

TEST(PlaceValues, InPlaceWhereTheInputDies) {
  LoweredPlan lowered = chain_plan(4, 100);
  for (Step& s : lowered.plan.steps) s.in_place = {{0, 0}};
  resolve_outputs(lowered);
  place_values(lowered);
  const auto& v = lowered.plan.values;
  // The input is not ours to write, and the output has memory of its own.
  EXPECT_EQ(v[1].offset, v[2].offset);
  EXPECT_EQ(v[2].offset, v[3].offset);
  EXPECT_EQ(v[4].storage, Storage::kOutput);
  EXPECT_EQ(lowered.plan.arena_bytes, static_cast<int64_t>(align_up(400)));
}

TEST(PlaceValues, NotInPlaceWhileSomebodyReadsLater) {
  LoweredPlan lowered = chain_plan(4, 100);
  for (Step& s : lowered.plan.steps) s.in_place = {{0, 0}};
  lowered.plan.steps[3].inputs.push_back(1);
  resolve_outputs(lowered);
  place_values(lowered);
  EXPECT_NE(lowered.plan.values[1].offset, lowered.plan.values[2].offset);
}

TEST(PlaceValues, AnOutputIsNeverOverwritten) {
  LoweredPlan lowered = chain_plan(3, 100);
  for (Step& s : lowered.plan.steps) s.in_place = {{0, 0}};
  lowered.plan.outputs = {2, 3};
  resolve_outputs(lowered);
  place_values(lowered);
  EXPECT_EQ(lowered.plan.values[2].storage, Storage::kOutput);
  EXPECT_EQ(lowered.plan.values[3].storage, Storage::kOutput);
  EXPECT_NE(lowered.plan.values[2].slot, lowered.plan.values[3].slot);
}

/// Two values of 16 elements computed apart and joined, then consumed.
LoweredPlan join_plan() {
  LoweredPlan lowered;
  Plan& plan = lowered.plan;
  const auto add = [&](int64_t n, Storage storage) {
    plan.values.push_back({.name = "v",
                           .dtype = DType::kFloat32,
                           .has_shape = true,
                           .shape = {n},
                           .storage = storage,
                           .slot = 0});
    lowered.aliases.emplace_back();
    return static_cast<int32_t>(plan.values.size() - 1);
  };
  const int32_t in = add(16, Storage::kInput), a = add(16, Storage::kArena), b = add(16, Storage::kArena),
                both = add(32, Storage::kArena), out = add(32, Storage::kArena);
  plan.inputs = {in};
  plan.outputs = {out};
  plan.steps.push_back({.tactic = "test", .inputs = {in}, .outputs = {a}});
  plan.steps.push_back({.tactic = "test", .inputs = {a}, .outputs = {b}, .in_place = {{0, 0}}});
  plan.steps.push_back(
      {.tactic = "concat", .inputs = {a, b}, .outputs = {both}, .placements = {{0, 0}, {1, 64}}});
  plan.steps.push_back({.tactic = "test", .inputs = {both}, .outputs = {out}});
  return lowered;
}

TEST(PlaceValues, PartsOfAConcatenationLieInsideIt) {
  LoweredPlan lowered = join_plan();
  resolve_outputs(lowered);
  place_values(lowered);
  const auto& v = lowered.plan.values;
  EXPECT_EQ(v[1].offset, v[3].offset);
  EXPECT_EQ(v[2].offset, v[3].offset + 64);
}

TEST(PlaceValues, TheSamePartTwiceIsCopiedOnce) {
  LoweredPlan lowered = join_plan();
  lowered.plan.steps[2].inputs = {1, 1};
  resolve_outputs(lowered);
  place_values(lowered);
  EXPECT_EQ(lowered.plan.values[1].offset, lowered.plan.values[3].offset);
}

TEST(PlaceValues, ScratchLiesApartFromLiveValues) {
  LoweredPlan lowered = chain_plan(3, 1000);
  lowered.plan.steps[1].scratch_bytes = 5000;
  resolve_outputs(lowered);
  place_values(lowered);
  const Step& s = lowered.plan.steps[1];
  for (const int32_t id : {s.inputs[0], s.outputs[0]}) {
    const PlanValue& v = lowered.plan.values[static_cast<size_t>(id)];
    EXPECT_TRUE(v.offset + 4000 <= s.scratch_offset || s.scratch_offset + 5000 <= v.offset);
  }
  EXPECT_LE(s.scratch_offset + 5000, lowered.plan.arena_bytes);
}

}  // namespace
}  // namespace assay::engine::memory_planner_test
