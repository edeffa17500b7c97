// Steps of the tactic attention: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/attention/attention.h"

namespace assay::engine::tactic_attention {

using kernels::Attention;
using kernels::AttentionMask;
using kernels::AttentionRows;

inline constexpr size_t kMaxMasks = 16;

/// Larger than any machine's memory.
inline constexpr int64_t kMaxAttentionExtent = int64_t{1} << 40;

/// The problem, and the first element of queries, keys and values in their values.
struct StepFields {
  Attention a;  ///< with as many masks as the step has
  std::array<int64_t, 3> offsets = {};

  void fields(FieldVisitor& visit) {
    const Bounds extent{1, kMaxAttentionExtent};
    visit("extents", {&a.batch, &a.heads, &a.groups, &a.queries, &a.keys, &a.size, &a.value_size}, extent);
    visit("offsets", offsets, {0});
    rows(visit, "query", a.query);
    rows(visit, "key", a.key);
    rows(visit, "value", a.value);
    rows(visit, "result", a.result);
    visit("scale", a.scale);
    masks(visit);
  }

 private:
  static void rows(FieldVisitor& visit, std::string_view name, AttentionRows& r) {
    visit(name, {&r.batch, &r.head, &r.row, &r.element}, {0});
  }
  void masks(FieldVisitor& visit) {
    const size_t count = a.masks.size();
    std::vector<int64_t> kinds, whens, strides, periods;
    std::vector<double> fills;
    for (const AttentionMask& m : a.masks) {
      kinds.push_back(static_cast<int64_t>(m.kind));
      whens.push_back(int64_t{m.when});
      fills.push_back(m.fill);
      strides.insert(strides.end(), {m.batch, m.head, m.query, m.key});
      periods.push_back(m.period);
    }
    visit("mask_kinds", kinds, count, {0, 1});
    visit("mask_whens", whens, count, {0, 1});
    visit("mask_fills", fills, count);
    visit("mask_strides", strides, 4 * count, {0});
    visit("mask_periods", periods, count, {0, kMaxAttentionExtent});
    for (size_t i = 0; i < count; ++i)
      a.masks[i] = {.kind = static_cast<AttentionMask::Kind>(kinds[i]),
                    .when = whens[i] != 0,
                    .fill = static_cast<float>(fills[i]),
                    .batch = strides[4 * i],
                    .head = strides[4 * i + 1],
                    .query = strides[4 * i + 2],
                    .key = strides[4 * i + 3],
                    .period = periods[i]};
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_attention
