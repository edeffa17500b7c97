#include "kernels/rnn/cells.h"

#include <algorithm>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rnn/cells.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activations-inl.h"
#include "kernels/rnn/gate_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

HWY_NOINLINE VF activate_otherwise(const RecurrentActivation& a, VF x) {
  const VF alpha = constant(a.alpha);
  switch (a.function) {
    case RecurrentFunction::kAffine:
      return hn::MulAdd(alpha, x, constant(a.beta));
    case RecurrentFunction::kElu:
      return elu(x, a.alpha);
    case RecurrentFunction::kHardSigmoid:
      return unit_ramp(x, a.alpha, a.beta);
    case RecurrentFunction::kLeakyRelu:
      return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(alpha, x), x);
    case RecurrentFunction::kRelu:
      return relu(x);
    case RecurrentFunction::kScaledTanh:
      return hn::Mul(alpha, tanh(hn::Mul(constant(a.beta), x)));
    case RecurrentFunction::kSigmoid:
      return sigmoid(x);
    case RecurrentFunction::kSoftplus:
      return softplus(x);
    case RecurrentFunction::kSoftsign:
      return softsign(x);
    case RecurrentFunction::kTanh:
      return tanh(x);
    case RecurrentFunction::kThresholdedRelu:
      return hn::IfThenElseZero(hn::Ge(x, alpha), x);
  }
  return x;
}

HWY_INLINE VF activate(const RecurrentActivation& a, VF x) {
  if (a.function == RecurrentFunction::kSigmoid) return sigmoid(x);
  if (a.function == RecurrentFunction::kTanh) return tanh(x);
  return activate_otherwise(a, x);
}

/// Rows whose inputs are fetched while a block's products are computed, and numbers of a cache line.
constexpr int64_t kRowsAhead = 32, kNumbersOfLine = 16;

/// What the cells of a step need, at hand.
struct Cells {
  explicit Cells(const RecurrentStep& s)
      : s(s), layer(*s.layer), d(*s.direction), gates(layer.gates()), padded(layer.matrix(0).padded()) {}

  const RecurrentStep& s;
  const RecurrentLayer& layer;
  const RecurrentDirection& d;
  int64_t gates, padded;

  /// The function of a gate's sum.
  HWY_INLINE VF gate(const RecurrentActivation& a, VF sum) const {
    if (layer.clip < std::numeric_limits<float>::infinity()) sum = clip(sum, -layer.clip, layer.clip);
    return activate(a, sum);
  }

  /// The hidden state of a block of units, where the next step and the outputs have it.
  HWY_INLINE void put_hidden(int64_t slot, int64_t block, VF h) const {
    const F f;
    const int64_t unit = block * kGateLanes, left = layer.hidden - unit;
    hn::Store(h, f, s.after + slot * padded + unit);
    if (d.output == nullptr) return;
    const int64_t b = s.order[slot];
    float* const y = d.output + s.time(b) * layer.output_step + b * layer.output_batch + unit;
    left >= kGateLanes ? hn::StoreU(h, f, y) : store_first(h, y, static_cast<size_t>(left));
  }

  /// The sums of a block, which lie `column` numbers behind `row`, in real numbers.
  template <int64_t G>
  HWY_INLINE void scale_block(int64_t row, int64_t column, float* to) const {
    const F f;
    const hn::RebindToSigned<F> i32;
    const VF state = constant(s.state_scale);
    ASSAY_UNROLL
    for (int64_t g = 0; g < G; ++g) {
      const int64_t at = column + g * kGateLanes;
      const VF scale = hn::Mul(hn::LoadU(f, s.column_scales + at), state);
      hn::Store(hn::Mul(hn::ConvertTo(f, hn::LoadU(i32, s.sums + row + at)), scale), f, to + g * kGateLanes);
    }
  }

  /// Blocks [first, last) of the products of `hidden` with a matrix of G gates: use(slot, block, inputs,
  /// sums). Every second step goes downwards: what the caches hold of the weights is used first.
  template <int64_t G, typename Use>
  HWY_INLINE void for_blocks(const float* packed, const float* hidden, bool is_zero, int64_t first,
                             int64_t last, Use use) const {
    const int64_t k = layer.hidden, count = s.last_slot - s.first_slot;
    HWY_ALIGN float zeros[G * kGateLanes] = {};
    const auto inputs_of = [&](int64_t row) {
      const int64_t b = s.order[s.first_slot + row];
      return d.inputs + (s.time(b) * layer.step_rows + b * layer.batch_rows) * gates * padded;
    };
    for (int64_t i = first; i < last; ++i) {
      const int64_t block = s.step % 2 == 0 ? i : first + last - 1 - i;
      const auto finish = [&](int64_t row, int64_t rows, const float* sums, int64_t stride) HWY_ATTR {
        for (int64_t r = 0; r < rows; ++r)
          use(s.first_slot + row + r, block, inputs_of(row + r) + block * gates * kGateLanes,
              sums + r * stride);
      };
      if (is_zero) {
        finish(0, count, zeros, 0);
        continue;
      }
      if (s.sums != nullptr) {
        for (int64_t row = 0; row < count; ++row) {
          HWY_ALIGN float sums[G * kGateLanes];
          scale_block<G>((s.first_slot + row) * G * padded, block * G * kGateLanes, sums);
          finish(row, 1, sums, 0);
        }
        continue;
      }
      // Rows of inputs lie far apart: no processor foresees them.
      for (int64_t row = 0; row < std::min(count, kRowsAhead); ++row)
        for (int64_t at = 0; at < G * kGateLanes; at += kNumbersOfLine)
          hwy::Prefetch(inputs_of(row) + block * gates * kGateLanes + at);
      gate_rows<G>(packed + block * k * G * kGateLanes, k, hidden + s.first_slot * padded, padded, count,
                   [&](int64_t row, int64_t rows, const float* sums)
                       HWY_ATTR { finish(row, rows, sums, G * kGateLanes); });
    }
  }
};

/// Gate g of a block.
HWY_INLINE VF sum_of(const float* inputs, const float* sums, int64_t g) {
  const F f;
  return hn::Add(hn::LoadU(f, inputs + g * kGateLanes), hn::Load(f, sums + g * kGateLanes));
}

void rnn_units(const RecurrentStep& s, int64_t first, int64_t last) {
  const Cells c(s);
  c.for_blocks<1>(c.d.recurrent, s.before, s.before_is_zero, first, last,
                  [&](int64_t slot, int64_t block, const float* inputs, const float* sums) HWY_ATTR {
                    c.put_hidden(slot, block, c.gate(c.d.activations[0], sum_of(inputs, sums, 0)));
                  });
}

void lstm_units(const RecurrentStep& s, int64_t first, int64_t last) {
  const F f;
  const Cells c(s);
  c.for_blocks<4>(
      c.d.recurrent, s.before, s.before_is_zero, first, last,
      [&](int64_t slot, int64_t block, const float* inputs, const float* sums) HWY_ATTR {
        float* const at = s.cell + slot * c.padded + block * kGateLanes;
        const VF old = hn::Load(f, at);
        VF in = sum_of(inputs, sums, 0), out = sum_of(inputs, sums, 1), forget = sum_of(inputs, sums, 2);
        const float* const peep = c.d.peepholes == nullptr ? nullptr : c.d.peepholes + block * kGateLanes;
        if (peep != nullptr) {
          in = hn::MulAdd(hn::LoadU(f, peep), old, in);
          forget = hn::MulAdd(hn::LoadU(f, peep + 2 * c.padded), old, forget);
        }
        in = c.gate(c.d.activations[0], in);
        forget = c.layer.coupled ? hn::Sub(constant(1.0f), in) : c.gate(c.d.activations[0], forget);
        const VF fresh = c.gate(c.d.activations[1], sum_of(inputs, sums, 3));
        const VF cell = hn::MulAdd(forget, old, hn::Mul(in, fresh));
        hn::Store(cell, f, at);
        if (peep != nullptr) out = hn::MulAdd(hn::LoadU(f, peep + c.padded), cell, out);
        out = c.gate(c.d.activations[0], out);
        c.put_hidden(slot, block, hn::Mul(out, activate(c.d.activations[2], cell)));
      });
}

/// (1 - z) * fresh + z * old.
HWY_INLINE VF mix_states(VF z, VF fresh, VF old) {
  return hn::MulAdd(z, old, hn::Mul(hn::Sub(constant(1.0f), z), fresh));
}

void gru_units(const RecurrentStep& s, int64_t first, int64_t last) {
  const F f;
  const Cells c(s);
  c.for_blocks<3>(
      c.d.recurrent, s.before, s.before_is_zero, first, last,
      [&](int64_t slot, int64_t block, const float* inputs, const float* sums) HWY_ATTR {
        const int64_t unit = block * kGateLanes;
        const VF z = c.gate(c.d.activations[0], sum_of(inputs, sums, 0));
        const VF r = c.gate(c.d.activations[0], sum_of(inputs, sums, 1));
        VF past = hn::Load(f, sums + 2 * kGateLanes);
        if (c.d.hidden_bias != nullptr) past = hn::Add(past, hn::LoadU(f, c.d.hidden_bias + unit));
        const VF fresh =
            c.gate(c.d.activations[1], hn::MulAdd(r, past, hn::LoadU(f, inputs + 2 * kGateLanes)));
        c.put_hidden(slot, block, mix_states(z, fresh, hn::Load(f, s.before + slot * c.padded + unit)));
      });
}

/// The gates of a GRU whose candidate needs the reset state of all units.
void gru_gates(const RecurrentStep& s, int64_t first, int64_t last) {
  const F f;
  const Cells c(s);
  c.for_blocks<2>(c.d.recurrent, s.before, s.before_is_zero, first, last,
                  [&](int64_t slot, int64_t block, const float* inputs, const float* sums) HWY_ATTR {
                    const int64_t at = slot * c.padded + block * kGateLanes;
                    const VF r = c.gate(c.d.activations[0], sum_of(inputs, sums, 1));
                    hn::Store(c.gate(c.d.activations[0], sum_of(inputs, sums, 0)), f, s.update + at);
                    hn::Store(hn::Mul(r, hn::Load(f, s.before + at)), f, s.reset + at);
                  });
}

void gru_candidates(const RecurrentStep& s, int64_t first, int64_t last) {
  const F f;
  const Cells c(s);
  const float* const packed = c.d.recurrent + 2 * c.padded * c.layer.hidden;
  c.for_blocks<1>(packed, s.reset, s.before_is_zero, first, last,
                  [&](int64_t slot, int64_t block, const float* inputs, const float* sums) HWY_ATTR {
                    const int64_t at = slot * c.padded + block * kGateLanes;
                    const VF sum = hn::Add(hn::LoadU(f, inputs + 2 * kGateLanes), hn::Load(f, sums));
                    c.put_hidden(slot, block,
                                 mix_states(hn::Load(f, s.update + at), c.gate(c.d.activations[1], sum),
                                            hn::Load(f, s.before + at)));
                  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(rnn_units);
HWY_EXPORT(lstm_units);
HWY_EXPORT(gru_units);
HWY_EXPORT(gru_gates);
HWY_EXPORT(gru_candidates);

void recurrent_units(const RecurrentStep& step, int64_t part, int64_t first, int64_t last) noexcept {
  const RecurrentLayer& layer = *step.layer;
  if (layer.kind == RecurrentKind::kRnn) return HWY_DYNAMIC_DISPATCH(rnn_units)(step, first, last);
  if (layer.kind == RecurrentKind::kLstm) return HWY_DYNAMIC_DISPATCH(lstm_units)(step, first, last);
  if (!layer.is_split()) return HWY_DYNAMIC_DISPATCH(gru_units)(step, first, last);
  if (part == 0) return HWY_DYNAMIC_DISPATCH(gru_gates)(step, first, last);
  HWY_DYNAMIC_DISPATCH(gru_candidates)(step, first, last);
}

}  // namespace assay::kernels
#endif
