#include "kernels/rnn/lstm.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rnn/lstm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Hidden units whose products are summed together.
constexpr int64_t kUnits = 2;

/// out[g * kUnits + u] = dot(row u of gate g, h) for the kUnits rows from `rows` on, gates `gate_stride`
/// apart.
HWY_INLINE void gate_dots(const float* rows, int64_t gate_stride, const float* h, int64_t n, float* out) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  VF s0 = hn::Zero(f), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const float *a = rows, *b = rows + gate_stride, *c = b + gate_stride, *d = c + gate_stride;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VF x = hn::LoadU(f, h + i);
    s0 = hn::MulAdd(hn::LoadU(f, a + i), x, s0);
    s1 = hn::MulAdd(hn::LoadU(f, a + n + i), x, s1);
    s2 = hn::MulAdd(hn::LoadU(f, b + i), x, s2);
    s3 = hn::MulAdd(hn::LoadU(f, b + n + i), x, s3);
    s4 = hn::MulAdd(hn::LoadU(f, c + i), x, s4);
    s5 = hn::MulAdd(hn::LoadU(f, c + n + i), x, s5);
    s6 = hn::MulAdd(hn::LoadU(f, d + i), x, s6);
    s7 = hn::MulAdd(hn::LoadU(f, d + n + i), x, s7);
  }
  const auto total = [&](VF s) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(f, s)); };
  out[0] = total(s0), out[1] = total(s1), out[2] = total(s2), out[3] = total(s3);
  out[4] = total(s4), out[5] = total(s5), out[6] = total(s6), out[7] = total(s7);
  for (; i < n; ++i) {
    const float x = h[i];
    out[0] += a[i] * x, out[1] += a[n + i] * x, out[2] += b[i] * x, out[3] += b[n + i] * x;
    out[4] += c[i] * x, out[5] += c[n + i] * x, out[6] += d[i] * x, out[7] += d[n + i] * x;
  }
}

HWY_INLINE float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// New cell and hidden states of units [first, last) of one row from the sums of its gates, in vectors.
void update_cells(const float* gates, int64_t hidden, int64_t first, int64_t last, float* cell, float* h) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto update = [&](auto load, auto store, int64_t i) HWY_ATTR {
    const VF in = sigmoid(load(gates + i)), out = sigmoid(load(gates + hidden + i));
    const VF forget = sigmoid(load(gates + 2 * hidden + i)), fresh = tanh(load(gates + 3 * hidden + i));
    const VF c = hn::MulAdd(forget, load(cell + i), hn::Mul(in, fresh));
    store(c, cell + i);
    store(hn::Mul(out, tanh(c)), h + i);
  };
  int64_t i = first;
  for (; i + lanes <= last; i += lanes)
    update([](const float* p) HWY_ATTR { return hn::LoadU(F(), p); },
           [](VF v, float* p) HWY_ATTR { hn::StoreU(v, F(), p); }, i);
  if (i < last) {
    const auto left = static_cast<size_t>(last - i);
    update([=](const float* p) HWY_ATTR { return load_first(p, left); },
           [=](VF v, float* p) HWY_ATTR { store_first(v, p, left); }, i);
  }
}

/// Units [first, last) of all rows at step t. `before` is the hidden state of the step before, null for
/// zeros.
void lstm_step(const LstmDirection& d, int64_t t, const float* before, int64_t first, int64_t last) {
  // Sums replace the input products where they lie: each is read once.
  float* const gates = d.inputs + t * d.batch * 4 * d.hidden;
  const int64_t gate_stride = d.hidden * d.hidden;
  for (int64_t u = first; before != nullptr && u < last; u += kUnits)
    for (int64_t n = 0; n < d.batch; ++n) {
      float* row = gates + n * 4 * d.hidden;
      const float* h = before + n * d.hidden;
      if (u + kUnits > last) {
        for (int64_t g = 0; g < 4; ++g)
          row[g * d.hidden + u] += dot(d.recurrent + g * gate_stride + u * d.hidden, h, d.hidden);
        continue;
      }
      float sums[4 * kUnits];
      gate_dots(d.recurrent + u * d.hidden, gate_stride, h, d.hidden, sums);
      for (int64_t g = 0; g < 4; ++g)
        for (int64_t k = 0; k < kUnits; ++k) row[g * d.hidden + u + k] += sums[g * kUnits + k];
    }
  for (int64_t n = 0; n < d.batch; ++n)
    update_cells(gates + n * 4 * d.hidden, d.hidden, first, last, d.cell + n * d.hidden,
                 d.output + t * d.output_step + n * d.hidden);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(lstm_step);

namespace {

/// Units that a thread should handle at least.
constexpr int64_t kUnitGrain = 32;

template <typename RunStep>
void walk_steps(const LstmDirection& d, RunStep run_step) {
  const float* before = d.initial_hidden;
  for (int64_t k = 0; k < d.steps; ++k) {
    const int64_t t = d.backward ? d.steps - 1 - k : k;
    run_step(t, before);
    before = d.output + t * d.output_step;
  }
}

}  // namespace

void lstm(const LstmDirection* directions, int64_t count) noexcept {
  if (count > 1) {
    parallel_for(count, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        walk_steps(directions[i], [&](int64_t t, const float* before) {
          HWY_DYNAMIC_DISPATCH(lstm_step)(directions[i], t, before, 0, directions[i].hidden);
        });
    });
    return;
  }
  const LstmDirection& d = directions[0];
  walk_steps(d, [&](int64_t t, const float* before) {
    parallel_for(d.hidden, kUnitGrain, [&](int64_t first, int64_t last) {
      HWY_DYNAMIC_DISPATCH(lstm_step)(d, t, before, first, last);
    });
  });
}

}  // namespace assay::kernels
#endif
