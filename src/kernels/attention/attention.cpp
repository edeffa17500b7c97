#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "kernels/copy/transpose_block.h"
#include "kernels/panel/panel_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

#ifndef ASSAY_KERNELS_ATTENTION_TASK_
#define ASSAY_KERNELS_ATTENTION_TASK_
namespace assay::kernels {

/// Rows that are worked on together, and keys that their scores are made of at a time.
inline constexpr int64_t kAttentionRows = 48, kAttentionKeys = 512;
/// Distance of the rows of scores: no power of two, at which rows would keep each other out of the caches.
inline int64_t score_stride(int64_t keys) {
  const int64_t panels = (std::min(keys, kAttentionKeys) + kPanelColumns - 1) / kPanelColumns;
  return (panels | 1) * kPanelColumns;
}
/// So few rows that share keys read these where they lie.
inline constexpr int64_t kFewAttentionRows = 4;

inline int64_t whole_panels(int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

/// Rows that share their keys: all queries of the heads of one group.
inline int64_t rows_of_group(const Attention& a) { return a.heads / a.groups * a.queries; }
inline bool has_few_rows(const Attention& a) {
  return rows_of_group(a) <= kFewAttentionRows && a.key.element == 1 && a.value.element == 1;
}

/// Pieces of a thread's scratch memory.
struct AttentionScratch {
  float *keys, *values;  ///< in panels
  float* queries;        ///< scaled
  float* scores;
  float* sums;             ///< of values
  float *largest, *total;  ///< of a row's scores; of their powers

  static int64_t floats(const Attention& a) {
    if (has_few_rows(a))
      return kFewAttentionRows * (whole_panels(a.size) + whole_panels(a.keys) + 2 * kPanelColumns);
    return whole_panels(a.keys) * a.size + a.keys * whole_panels(a.value_size) +
           kAttentionRows * (whole_panels(a.size) + score_stride(a.keys) + whole_panels(a.value_size) + 2);
  }
  AttentionScratch(const Attention& a, float* at) {
    const auto take = [&](int64_t count) {
      float* const piece = at;
      at += count;
      return piece;
    };
    const bool few = has_few_rows(a);
    const int64_t rows = few ? kFewAttentionRows : kAttentionRows;
    keys = take(few ? 0 : whole_panels(a.keys) * a.size);
    values = take(few ? 0 : a.keys * whole_panels(a.value_size));
    queries = take(rows * whole_panels(a.size));
    scores = take(rows * (few ? whole_panels(a.keys) : score_stride(a.keys)));
    sums = take(few ? 0 : rows * whole_panels(a.value_size));
    largest = take(rows);
    total = take(rows);
  }
};

/// One group's operands.
struct AttentionGroup {
  const Attention& a;
  int64_t batch, group;
  const float *query, *key, *value;  ///< of the group's first head
  std::span<const void* const> masks;
  float* result;

  int64_t head_of(int64_t row) const { return row / a.queries; }
  int64_t offset(const AttentionRows& rows, int64_t row) const {
    return head_of(row) * rows.head + row % a.queries * rows.row;
  }
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(F())); }

/// Calls whole(i) for every vector of n elements, and rest(i, count) for what is left.
template <typename Whole, typename Rest>
HWY_INLINE void for_vectors(int64_t n, Whole whole, Rest rest) {
  int64_t i = 0;
  for (; i + lanes() <= n; i += lanes()) whole(i);
  if (i < n) rest(i, static_cast<size_t>(n - i));
}

/// x[i] = fn(x[i], i).
template <typename Fn>
HWY_INLINE void change_row(float* x, int64_t n, Fn fn) {
  for_vectors(
      n, [&](int64_t i) HWY_ATTR { hn::StoreU(fn(hn::LoadU(F(), x + i), i, hn::Lanes(F())), F(), x + i); },
      [&](int64_t i, size_t count)
          HWY_ATTR { store_first(fn(load_first(x + i, count), i, count), x + i, count); });
}

HWY_INLINE void hide(const AttentionMask& mask, const uint8_t* bytes, float* x, int64_t n) {
  if (mask.key == 0) {
    if ((*bytes != 0) == mask.when) std::fill_n(x, n, mask.fill);
    return;
  }
  const hn::Rebind<uint8_t, F> u8;
  const hn::RebindToSigned<F> i32;
  const VF fill = constant(mask.fill);
  int64_t i = 0;
  for (; i + lanes() <= n; i += lanes()) {
    const auto zero = hn::Eq(hn::PromoteTo(i32, hn::LoadU(u8, bytes + i)), hn::Zero(i32));
    const VF v = hn::LoadU(F(), x + i);
    const auto is_false = hn::RebindMask(F(), zero);
    hn::StoreU(mask.when ? hn::IfThenElse(is_false, v, fill) : hn::IfThenElse(is_false, fill, v), F(), x + i);
  }
  for (; i < n; ++i)
    if ((bytes[i] != 0) == mask.when) x[i] = mask.fill;
}

/// Scores of keys from `first` on.
void mask_row(const AttentionGroup& g, int64_t row, int64_t first, float* x, int64_t n) {
  const int64_t head = g.group * (g.a.heads / g.a.groups) + g.head_of(row), query = row % g.a.queries;
  for (size_t m = 0; m < g.masks.size(); ++m) {
    const AttentionMask& mask = g.a.masks[m];
    const int64_t batch = mask.period > 0 ? g.batch % mask.period : g.batch;
    const int64_t at = batch * mask.batch + head * mask.head + query * mask.query + first * mask.key;
    if (mask.kind == AttentionMask::Kind::kHides) {
      hide(mask, static_cast<const uint8_t*>(g.masks[m]) + at, x, n);
      continue;
    }
    const float* const added = static_cast<const float*>(g.masks[m]) + at;
    if (mask.key == 0)
      change_row(x, n, [=](VF v, int64_t, size_t) HWY_ATTR { return hn::Add(v, constant(*added)); });
    else
      change_row(x, n, [=](VF v, int64_t i, size_t count) HWY_ATTR {
        return hn::Add(v, count == hn::Lanes(F()) ? hn::LoadU(F(), added + i) : load_first(added + i, count));
      });
  }
}

/// The largest number. Where there is a NaN, that of others, or NaN.
float largest_of(const float* x, int64_t n) {
  const VF least = hn::Neg(hn::Inf(F()));
  VF a = least, b = least, c = least, d = least;
  int64_t i = 0;
  for (; i + 4 * lanes() <= n; i += 4 * lanes()) {
    a = hn::Max(a, hn::LoadU(F(), x + i));
    b = hn::Max(b, hn::LoadU(F(), x + i + lanes()));
    c = hn::Max(c, hn::LoadU(F(), x + i + 2 * lanes()));
    d = hn::Max(d, hn::LoadU(F(), x + i + 3 * lanes()));
  }
  for (; i < n; i += lanes()) {
    const auto count = static_cast<size_t>(std::min(lanes(), n - i));
    a = hn::Max(a, count == hn::Lanes(F())
                       ? hn::LoadU(F(), x + i)
                       : hn::IfThenElse(hn::FirstN(F(), count), load_first(x + i, count), least));
  }
  return hn::GetLane(hn::MaxOfLanes(F(), hn::Max(hn::Max(a, b), hn::Max(c, d))));
}

/// x = e^(x - m); returns the sum.
float exponentiate(float* x, int64_t n, float m) {
  const VF vm = constant(m);
  const int64_t step = static_cast<int64_t>(kTogether) * lanes();
  VF sum = hn::Zero(F());
  int64_t i = 0;
  if (n >= step) {
    Vectors sums = each([](VF) HWY_ATTR { return hn::Zero(F()); }, load_together(x));
    for (; i + step <= n; i += step) {
      const Vectors e = exp_of_part(sub(load_together(x + i), vm));
      sums = add(sums, e);
      store_together(e, x + i);
    }
    ASSAY_UNROLL
    for (size_t v = 0; v < kTogether; ++v) sum = hn::Add(sum, sums.v[v]);
  }
  for (; i < n; i += lanes()) {
    const auto count = static_cast<size_t>(std::min(lanes(), n - i));
    const bool whole = count == hn::Lanes(F());
    const VF v = exp_of_part(hn::Sub(whole ? hn::LoadU(F(), x + i) : load_first(x + i, count), vm));
    sum = hn::Add(sum, whole ? v : hn::IfThenElseZero(hn::FirstN(F(), count), v));
    whole ? hn::StoreU(v, F(), x + i) : store_first(v, x + i, count);
  }
  return hn::GetLane(hn::SumOfLanes(F(), sum));
}

void scale_row(const float* x, float factor, float* y, int64_t n) {
  const VF k = constant(factor);
  for_vectors(
      n, [&](int64_t i) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(F(), x + i), k), F(), y + i); },
      [&](int64_t i, size_t count)
          HWY_ATTR { store_first(hn::Mul(load_first(x + i, count), k), y + i, count); });
}

/// Takes scores of keys from `first` on into row `r`'s softmax, where earlier ones are in it unless `first`
/// is 0. The scores become what values are weighted with; earlier sums of values are to be multiplied by the
/// result.
float take_scores(const AttentionGroup& g, int64_t row, int64_t first, float* x, int64_t n, float& largest,
                  float& total) {
  mask_row(g, row, first, x, n);
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  const float before = first == 0 ? kNothing : largest, here = largest_of(x, n);
  largest = std::isnan(before) || before > here ? before : here;
  if (first == 0) total = 0;
  if (largest == kNothing && std::none_of(x, x + n, [](float v) { return std::isnan(v); })) {
    std::fill_n(x, n, 0.0F);
    return 1;
  }
  if (!std::isfinite(largest)) {
    total = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(x, n, total);
    return 1;
  }
  const float factor = first == 0 ? 0 : std::exp(before - largest);
  total = total * factor + exponentiate(x, n, largest);
  return factor;
}

/// Rows [first, last) of a group whose keys and values lie in panels.
void packed_rows(const AttentionGroup& g, int64_t first, int64_t last, const AttentionScratch& s) {
  const Attention& a = g.a;
  const int64_t width = whole_panels(a.value_size), stride = score_stride(a.keys);
  const int64_t blocks = (last - first + kAttentionRows - 1) / kAttentionRows;
  const int64_t per_block = std::min((((last - first + blocks - 1) / blocks) + 5) / 6 * 6, kAttentionRows);
  for (int64_t row = first; row < last; row += per_block) {
    const int64_t rows = std::min(per_block, last - row);
    for (int64_t r = 0; r < rows; ++r)
      scale_row(g.query + g.offset(a.query, row + r), a.scale, s.queries + r * a.size, a.size);
    for (int64_t k = 0; k < a.keys; k += kAttentionKeys) {
      const int64_t n = std::min(kAttentionKeys, a.keys - k);
      panel_block_product(
          {s.keys + k * a.size, a.size * kPanelColumns, whole_panels(n) / kPanelColumns, a.size},
          {s.queries, a.size}, rows, nullptr, 0, s.scores, stride);
      for (int64_t r = 0; r < rows; ++r) {
        const float factor = take_scores(g, row + r, k, s.scores + r * stride, n, s.largest[r], s.total[r]);
        if (k > 0 && factor != 1) scale_row(s.sums + r * width, factor, s.sums + r * width, width);
      }
      panel_block_product({s.values + k * kPanelColumns, a.keys * kPanelColumns, width / kPanelColumns, n},
                          {s.scores, stride}, rows, k > 0 ? s.sums : nullptr, width, s.sums, width);
    }
    for (int64_t r = 0; r < rows; ++r)
      scale_row(s.sums + r * width, 1 / s.total[r], g.result + g.offset(a.result, row + r), a.value_size);
  }
}

/// Scores of R queries, a.size numbers each one after the other, with every key.
template <int64_t R>
void few_scores(const AttentionGroup& g, const float* queries, float* scores, int64_t stride) {
  const int64_t size = g.a.size;
  for (int64_t j = 0; j < g.a.keys; ++j) {
    const float* const key = g.key + j * g.a.key.row;
    VF sums[R];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) sums[r] = hn::Zero(F());
    for_vectors(
        size,
        [&](int64_t i) HWY_ATTR {
          const VF k = hn::LoadU(F(), key + i);
          ASSAY_UNROLL
          for (int64_t r = 0; r < R; ++r)
            sums[r] = hn::MulAdd(k, hn::LoadU(F(), queries + r * size + i), sums[r]);
        },
        [&](int64_t i, size_t count) HWY_ATTR {
          const VF k = load_first(key + i, count);
          ASSAY_UNROLL
          for (int64_t r = 0; r < R; ++r)
            sums[r] = hn::MulAdd(k, load_first(queries + r * size + i, count), sums[r]);
        });
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) scores[r * stride + j] = hn::GetLane(hn::SumOfLanes(F(), sums[r]));
  }
}

/// V vectors of columns from `column` on of the sums of values of R rows.
template <int64_t R, int64_t V, typename Load, typename Store>
HWY_INLINE void few_sums(const AttentionGroup& g, const float* weights, int64_t stride, const float* factors,
                         int64_t column, Load load, Store store) {
  VF sums[R][V];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) sums[r][v] = hn::Zero(F());
  for (int64_t j = 0; j < g.a.keys; ++j) {
    VF values[V];
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v) values[v] = load(g.value + j * g.a.value.row + column + v * lanes());
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VF w = constant(weights[r * stride + j]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(w, values[v], sums[r][v]);
    }
  }
  for (int64_t r = 0; r < R; ++r)
    for (int64_t v = 0; v < V; ++v)
      store(hn::Mul(sums[r][v], constant(factors[r])),
            g.result + g.offset(g.a.result, r) + column + v * lanes());
}

/// All R rows of a group, whose keys and values are read where they lie.
template <int64_t R>
void few_rows(const AttentionGroup& g, const AttentionScratch& s) {
  const Attention& a = g.a;
  const int64_t stride = whole_panels(a.keys);
  for (int64_t r = 0; r < R; ++r)
    scale_row(g.query + g.offset(a.query, r), a.scale, s.queries + r * a.size, a.size);
  few_scores<R>(g, s.queries, s.scores, stride);
  for (int64_t r = 0; r < R; ++r) {
    take_scores(g, r, 0, s.scores + r * stride, a.keys, s.largest[r], s.total[r]);
    s.total[r] = 1 / s.total[r];
  }
  const auto load = [](const float* p) HWY_ATTR { return hn::LoadU(F(), p); };
  const auto store = [](VF v, float* p) HWY_ATTR { hn::StoreU(v, F(), p); };
  int64_t c = 0;
  for (; c + 4 * lanes() <= a.value_size; c += 4 * lanes())
    few_sums<R, 4>(g, s.scores, stride, s.total, c, load, store);
  for (; c + lanes() <= a.value_size; c += lanes())
    few_sums<R, 1>(g, s.scores, stride, s.total, c, load, store);
  if (c == a.value_size) return;
  const auto left = static_cast<size_t>(a.value_size - c);
  few_sums<R, 1>(
      g, s.scores, stride, s.total, c, [=](const float* p) HWY_ATTR { return load_first(p, left); },
      [=](VF v, float* p) HWY_ATTR { store_first(v, p, left); });
}

/// Keys become the columns of panels; those beyond the last are 0.
void pack_keys(const Attention& a, const float* from, float* to) {
  for (int64_t k = 0; k < a.keys; k += kPanelColumns, to += a.size * kPanelColumns) {
    const int64_t n = std::min(kPanelColumns, a.keys - k);
    if (n < kPanelColumns) std::fill_n(to, a.size * kPanelColumns, 0.0F);
    const float* const rows = from + k * a.key.row;
    if (a.key.row == 1) {
      for (int64_t i = 0; i < a.size; ++i) std::copy_n(rows + i * a.key.element, n, to + i * kPanelColumns);
    } else if (a.key.element == 1) {
      transpose_block(rows, a.key.row, to, kPanelColumns, n, a.size, sizeof(float));
    } else {
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < a.size; ++i)
          to[i * kPanelColumns + j] = rows[j * a.key.row + i * a.key.element];
    }
  }
}

void pack_values(const Attention& a, const float* from, float* to) {
  for (int64_t c = 0; c < a.value_size; c += kPanelColumns) {
    const int64_t n = std::min(kPanelColumns, a.value_size - c);
    for (int64_t k = 0; k < a.keys; ++k, to += kPanelColumns) {
      const float* const row = from + k * a.value.row + c * a.value.element;
      if (a.value.element == 1 && n == kPanelColumns) {
        const hn::CappedTag<float, kPanelColumns> d;
        for (int64_t i = 0; i < kPanelColumns; i += static_cast<int64_t>(hn::Lanes(d)))
          hn::StoreU(hn::LoadU(d, row + i), d, to + i);
        continue;
      }
      for (int64_t i = 0; i < kPanelColumns; ++i) to[i] = i < n ? row[i * a.value.element] : 0.0F;
    }
  }
}

void pack_group(const Attention& a, const float* key, const float* value, const AttentionScratch& s) {
  pack_keys(a, key, s.keys);
  pack_values(a, value, s.values);
}

void group_rows(const AttentionGroup& g, int64_t first, int64_t last, const AttentionScratch& s) {
  if (!has_few_rows(g.a)) return packed_rows(g, first, last, s);
  switch (last - first) {
    case 1:
      return few_rows<1>(g, s);
    case 2:
      return few_rows<2>(g, s);
    case 3:
      return few_rows<3>(g, s);
    default:
      return few_rows<4>(g, s);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(group_rows);
HWY_EXPORT(pack_group);

namespace {

/// Parts of each group's rows, so that the threads' shares are equal.
int64_t row_parts(const Attention& a, int64_t threads) {
  const int64_t groups = a.batch * a.groups, most = (rows_of_group(a) + kAttentionRows - 1) / kAttentionRows;
  if (has_few_rows(a)) return 1;
  int64_t parts = 1;
  while (parts < std::min(threads, most) && groups * parts % threads != 0 && groups * parts < 4 * threads)
    ++parts;
  return parts;
}

}  // namespace

int64_t attention_scratch(const Attention& a, int64_t threads) {
  return AttentionScratch::floats(a) * std::min(threads, a.batch * a.groups * row_parts(a, threads)) *
         static_cast<int64_t>(sizeof(float));
}

void attention(const Attention& a, const float* query, const float* key, const float* value,
               std::span<const void* const> masks, float* result, void* scratch, int64_t threads) noexcept {
  const auto run = HWY_DYNAMIC_DISPATCH(group_rows);
  const auto pack = HWY_DYNAMIC_DISPATCH(pack_group);
  const int64_t parts = row_parts(a, threads), tasks = a.batch * a.groups * parts,
                chunks = std::min(threads, tasks);
  const int64_t rows = rows_of_group(a), members = a.heads / a.groups;
  // Blocks are the same for every number of threads: rows are summed alone, in the same order.
  parallel_for(chunks, 1, [&](int64_t first_chunk, int64_t last_chunk) {
    for (int64_t chunk = first_chunk; chunk < last_chunk; ++chunk) {
      const AttentionScratch s(a, static_cast<float*>(scratch) + chunk * AttentionScratch::floats(a));
      int64_t packed = -1;
      for (int64_t task = tasks * chunk / chunks; task < tasks * (chunk + 1) / chunks; ++task) {
        const int64_t number = task / parts, part = task % parts, batch = number / a.groups,
                      group = number % a.groups;
        const AttentionGroup g{a,
                               batch,
                               group,
                               query + batch * a.query.batch + group * members * a.query.head,
                               key + batch * a.key.batch + group * a.key.head,
                               value + batch * a.value.batch + group * a.value.head,
                               masks,
                               result + batch * a.result.batch + group * members * a.result.head};
        if (packed != number && !has_few_rows(a)) pack(a, g.key, g.value, s);
        packed = number;
        run(g, rows * part / parts, rows * (part + 1) / parts, s);
      }
    }
  });
}

}  // namespace assay::kernels
#endif
