#include "kernels/rnn/recurrence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/parallel.h"

namespace assay::kernels::recurrence_test {
namespace {

using Kind = RecurrentKind;
using Numbers = std::vector<float>;

/// A layer with everything that ONNX gives it.
struct Case {
  RecurrentLayer layer;
  int64_t inputs = 5, directions = 1;
  bool backward = false, by_batch = false, biased = true, initial = true, peepholes = false;
  std::vector<int32_t> lengths;
  std::vector<RecurrentActivation> activations;  ///< of all directions
  Numbers x, w, r, b, h0, c0, p;

  int64_t gates() const { return layer.gates(); }
  int64_t functions() const { return layer.kind == Kind::kLstm ? 3 : layer.kind == Kind::kGru ? 2 : 1; }
  bool is_backward(int64_t d) const { return backward || d == 1; }
  int64_t state(int64_t d, int64_t n) const {
    return (by_batch ? n * directions + d : d * layer.batch + n) * layer.hidden;
  }
  int64_t output(int64_t t, int64_t d, int64_t n) const {
    return (by_batch ? (n * layer.steps + t) * directions + d : (t * directions + d) * layer.batch + n) *
           layer.hidden;
  }
  int64_t row(int64_t t, int64_t n) const { return by_batch ? n * layer.steps + t : t * layer.batch + n; }
  int64_t length(int64_t n) const { return lengths.empty() ? layer.steps : lengths[static_cast<size_t>(n)]; }
};

Numbers numbers(int64_t n, float scale, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Numbers v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random) * scale;
  return v;
}

void fill(Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t h = c.layer.hidden, rows = c.gates() * h, d = c.directions;
  c.x = numbers(c.layer.steps * c.layer.batch * c.inputs, 1, random);
  c.w = numbers(d * rows * c.inputs, 0.5F, random);
  c.r = numbers(d * rows * h, 1 / std::sqrt(static_cast<float>(h)), random);
  if (c.biased) c.b = numbers(d * 2 * rows, 0.5F, random);
  if (c.initial) c.h0 = numbers(d * c.layer.batch * h, 0.5F, random);
  if (c.initial && c.layer.kind == Kind::kLstm) c.c0 = numbers(d * c.layer.batch * h, 1, random);
  if (c.peepholes) c.p = numbers(d * 3 * h, 0.5F, random);
  const RecurrentActivation sigmoid{RecurrentFunction::kSigmoid, 0, 0}, tanh{RecurrentFunction::kTanh, 0, 0};
  for (int64_t i = 0; c.activations.empty() || i < (d - 1) * c.functions(); ++i) {
    const std::vector<RecurrentActivation> usual = c.layer.kind == Kind::kLstm
                                                       ? std::vector{sigmoid, tanh, tanh}
                                                   : c.layer.kind == Kind::kGru ? std::vector{sigmoid, tanh}
                                                                                : std::vector{tanh};
    for (int64_t k = 0; k < d; ++k) c.activations.insert(c.activations.end(), usual.begin(), usual.end());
    break;
  }
}

double apply(const RecurrentActivation& a, double x) {
  switch (a.function) {
    case RecurrentFunction::kAffine:
      return a.alpha * x + a.beta;
    case RecurrentFunction::kElu:
      return x >= 0 ? x : a.alpha * std::expm1(x);
    case RecurrentFunction::kHardSigmoid:
      return std::min(std::max(a.alpha * x + a.beta, 0.0), 1.0);
    case RecurrentFunction::kLeakyRelu:
      return x >= 0 ? x : a.alpha * x;
    case RecurrentFunction::kRelu:
      return x < 0 ? 0 : x;
    case RecurrentFunction::kScaledTanh:
      return a.alpha * std::tanh(a.beta * x);
    case RecurrentFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case RecurrentFunction::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case RecurrentFunction::kSoftsign:
      return x / (1 + std::fabs(x));
    case RecurrentFunction::kTanh:
      return std::tanh(x);
    case RecurrentFunction::kThresholdedRelu:
      return x >= a.alpha ? x : 0;
  }
  return x;
}

struct Outputs {
  std::vector<double> y, h, c;
};

/// ONNX's definition, in float64: one element of the batch in one direction, step by step.
class Sequence {
 public:
  Sequence(const Case& c, int64_t direction, int64_t element)
      : h_(static_cast<size_t>(c.layer.hidden)),
        cell_(h_),
        c_(c),
        d_(direction),
        e_(element),
        n_(c.layer.hidden),
        f_(c.activations.data() + direction * c.functions()) {
    const int64_t first = c.state(direction, element);
    if (!c.h0.empty()) std::copy_n(c.h0.begin() + first, n_, h_.begin());
    if (!c.c0.empty()) std::copy_n(c.c0.begin() + first, n_, cell_.begin());
  }

  void step(int64_t t) {
    t_ = t;
    switch (c_.layer.kind) {
      case Kind::kRnn:
        return rnn();
      case Kind::kGru:
        return gru();
      case Kind::kLstm:
        return lstm();
    }
  }

  const std::vector<double>& h() const { return h_; }
  const std::vector<double>& cell() const { return cell_; }

 private:
  int64_t row(int64_t i) const { return d_ * c_.gates() * n_ + i; }
  double bias(int64_t which, int64_t i) const {
    return c_.b.empty() ? 0.0 : c_.b[(d_ * 2 + which) * c_.gates() * n_ + i];
  }
  double peephole(int64_t gate, int64_t u) const {
    return c_.p.empty() ? 0.0 : c_.p[(d_ * 3 + gate) * n_ + u] * cell_[u];
  }
  double function(int64_t which, double sum) const {
    const double limit = c_.layer.clip;
    return apply(f_[which], sum < -limit ? -limit : sum > limit ? limit : sum);
  }
  double input(int64_t i) const {
    double sum = bias(0, i);
    for (int64_t j = 0; j < c_.inputs; ++j)
      sum += double{c_.x[c_.row(t_, e_) * c_.inputs + j]} * c_.w[row(i) * c_.inputs + j];
    return sum;
  }
  double product(int64_t i, const std::vector<double>& state) const {
    double sum = bias(1, i);
    for (int64_t j = 0; j < n_; ++j) sum += state[j] * c_.r[row(i) * n_ + j];
    return sum;
  }
  double sum(int64_t i) const { return input(i) + product(i, h_); }

  void rnn() {
    std::vector<double> next(h_);
    for (int64_t u = 0; u < n_; ++u) next[u] = function(0, sum(u));
    h_ = next;
  }

  void gru() {
    std::vector<double> next(h_), update(h_), reset(h_), past(h_);
    for (int64_t u = 0; u < n_; ++u) {
      update[u] = function(0, sum(u));
      reset[u] = function(0, sum(n_ + u));
      past[u] = reset[u] * h_[u];
    }
    for (int64_t u = 0; u < n_; ++u) {
      const int64_t i = 2 * n_ + u;
      const double hidden = c_.layer.linear_before_reset ? reset[u] * product(i, h_) : product(i, past);
      next[u] = (1 - update[u]) * function(1, input(i) + hidden) + update[u] * h_[u];
    }
    h_ = next;
  }

  void lstm() {
    std::vector<double> next(h_);
    for (int64_t u = 0; u < n_; ++u) {
      const double in = function(0, sum(u) + peephole(0, u));
      const double forget = c_.layer.coupled ? 1 - in : function(0, sum(2 * n_ + u) + peephole(2, u));
      cell_[u] = forget * cell_[u] + in * function(1, sum(3 * n_ + u));
      next[u] = function(0, sum(n_ + u) + peephole(1, u)) * apply(f_[2], cell_[u]);
    }
    h_ = next;
  }

  std::vector<double> h_, cell_;
  const Case& c_;
  int64_t d_, e_, n_, t_ = 0;
  const RecurrentActivation* f_;
};

Outputs defined(const Case& c) {
  const auto size = static_cast<size_t>(c.directions * c.layer.batch * c.layer.hidden);
  Outputs o{std::vector<double>(static_cast<size_t>(c.layer.steps) * size), std::vector<double>(size),
            std::vector<double>(size)};
  for (int64_t d = 0; d < c.directions; ++d)
    for (int64_t e = 0; e < c.layer.batch; ++e) {
      Sequence s(c, d, e);
      for (int64_t k = 0; k < c.length(e); ++k) {
        const int64_t t = c.is_backward(d) ? c.length(e) - 1 - k : k;
        s.step(t);
        std::copy(s.h().begin(), s.h().end(), o.y.begin() + c.output(t, d, e));
      }
      std::copy(s.h().begin(), s.h().end(), o.h.begin() + c.state(d, e));
      std::copy(s.cell().begin(), s.cell().end(), o.c.begin() + c.state(d, e));
    }
  return o;
}

/// The kernels' results.
struct Results {
  Numbers y, h, c;
};

Results computed(Case& c) {
  RecurrentLayer& l = c.layer;
  l.step_rows = c.by_batch ? 1 : l.batch, l.batch_rows = c.by_batch ? l.steps : 1;
  l.output_step = c.directions * l.hidden * (c.by_batch ? 1 : l.batch);
  l.output_batch = l.hidden * (c.by_batch ? l.steps * c.directions : 1);
  l.state_batch = l.hidden * (c.by_batch ? c.directions : 1);
  l.lengths = c.lengths.empty() ? nullptr : c.lengths.data();
  const GateMatrix m = l.matrix(c.inputs);
  const int64_t rows = c.gates() * l.hidden;
  const auto size = static_cast<size_t>(c.directions * l.batch * l.hidden);
  Results o{Numbers(static_cast<size_t>(l.steps) * size, -7), Numbers(size, -7), Numbers(size, -7)};
  std::vector<Numbers> memory;
  const auto fresh = [&](int64_t n) { return memory.emplace_back(static_cast<size_t>(n)).data(); };
  std::vector<std::vector<char>> scratch(static_cast<size_t>(c.directions));
  std::vector<RecurrentDirection> directions(static_cast<size_t>(c.directions));
  const int64_t stride = l.hidden * (c.by_batch ? 1 : l.batch);
  for (int64_t i = 0; i < c.directions; ++i) {
    RecurrentDirection& d = directions[static_cast<size_t>(i)];
    float *w = fresh(m.numbers()), *r = fresh(l.recurrent_numbers()),
          *products = fresh(l.steps * l.batch * m.row_numbers());
    pack_gates(m, c.w.data() + i * rows * c.inputs, w);
    pack_recurrent(l, c.r.data() + i * rows * l.hidden, r);
    float* bias = nullptr;
    if (!c.b.empty()) {
      bias = fresh(m.row_numbers());
      float* const hidden_bias = fresh(m.padded());
      pack_recurrent_bias(l, c.b.data() + i * 2 * rows, bias, hidden_bias);
      if (l.kind == Kind::kGru && l.linear_before_reset) d.hidden_bias = hidden_bias;
    }
    if (!c.p.empty()) {
      float* const p = fresh(3 * m.padded());
      pack_peepholes(l, c.p.data() + i * 3 * l.hidden, p);
      d.peepholes = p;
    }
    gate_products(m, w, bias, c.x.data(), l.steps * l.batch, products);
    std::copy_n(c.activations.begin() + i * c.functions(), c.functions(), d.activations);
    d.inputs = products, d.recurrent = r, d.backward = c.is_backward(i);
    if (!c.h0.empty()) d.initial_hidden = c.h0.data() + i * stride;
    if (!c.c0.empty()) d.initial_cell = c.c0.data() + i * stride;
    d.output = o.y.data() + i * stride, d.last_hidden = o.h.data() + i * stride;
    d.last_cell = o.c.data() + i * stride;
    std::vector<char>& room = scratch[static_cast<size_t>(i)];
    room.resize(static_cast<size_t>(l.scratch_bytes()) + 64);
    d.scratch = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64;
  }
  run_recurrence(l, directions.data(), c.directions);
  return o;
}

void expect_near(const Numbers& is, const std::vector<double>& wanted, const char* what) {
  for (size_t i = 0; i < is.size(); ++i)
    ASSERT_NEAR(is[i], wanted[i], 4e-5 * (1 + std::fabs(wanted[i]))) << what << ' ' << i;
}

void check(Case c, uint32_t seed) {
  fill(c, seed);
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(c.layer.kind) << ", hidden "
                                  << c.layer.hidden << ", batch " << c.layer.batch << ", directions "
                                  << c.directions);
  const Outputs wanted = defined(c);
  const Results is = computed(c);
  expect_near(is.y, wanted.y, "Y");
  expect_near(is.h, wanted.h, "Y_h");
  if (c.layer.kind == Kind::kLstm) expect_near(is.c, wanted.c, "Y_c");
}

Case layer(Kind kind, int64_t steps, int64_t batch, int64_t hidden) {
  Case c;
  c.layer.kind = kind, c.layer.steps = steps, c.layer.batch = batch, c.layer.hidden = hidden;
  return c;
}

TEST(Recurrence, EveryKindAsItIsDefined) {
  uint32_t seed = 1;
  for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm})
    for (const int64_t hidden : {1, 3, 16, 33, 67})
      for (const int64_t batch : {1, 2, 3, 7, 13})
        for (const bool linear : {false, true}) {
          Case c = layer(kind, 4, batch, hidden);
          c.directions = 1 + hidden % 2;
          c.layer.linear_before_reset = linear, c.by_batch = linear;
          c.biased = batch != 2, c.initial = batch != 3;
          c.backward = batch == 7 && c.directions == 1;
          check(std::move(c), seed++);
        }
}

TEST(Recurrence, OneStepAndManyInputs) {
  for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm}) {
    Case c = layer(kind, 1, 1, 17);
    c.inputs = 131;
    check(std::move(c), 3);
    Case d = layer(kind, 101, 2, 8);
    d.inputs = 1;
    check(std::move(d), 4);
  }
}

TEST(Recurrence, RowsOfABatchInTilesOfEveryHeight) {
  uint32_t seed = 20;
  for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm})
    for (const bool linear : {false, true})
      for (const int64_t batch : {4, 5, 6, 8, 9, 10, 12, 16, 40, 70}) {
        Case c = layer(kind, 3, batch, 43);
        c.inputs = 131;
        c.layer.linear_before_reset = linear;
        check(std::move(c), seed++);
      }
}

TEST(Recurrence, SequencesEndWhereTheirLengthsSay) {
  for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm})
    for (const bool by_batch : {false, true}) {
      Case c = layer(kind, 5, 6, 19);
      c.directions = 2, c.by_batch = by_batch;
      c.lengths = {3, 0, 5, 1, 5, 2};
      check(std::move(c), 5);
      Case none = layer(kind, 5, 2, 19);
      none.lengths = {0, 0};
      check(std::move(none), 6);
    }
}

TEST(Recurrence, PeepholesClippedSumsAndCoupledGates) {
  for (const bool coupled : {false, true})
    for (const float clip : {0.0F, 0.75F, std::numeric_limits<float>::infinity()}) {
      Case c = layer(Kind::kLstm, 4, 3, 21);
      c.peepholes = true, c.directions = 2;
      c.layer.coupled = coupled, c.layer.clip = clip;
      check(std::move(c), 7);
    }
  for (const Kind kind : {Kind::kRnn, Kind::kGru}) {
    Case c = layer(kind, 4, 3, 21);
    c.layer.clip = 0.5F;
    check(std::move(c), 8);
  }
}

TEST(Recurrence, EveryFunction) {
  for (int64_t f = 0; f < kRecurrentFunctions; ++f)
    for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm}) {
      Case c = layer(kind, 3, 2, 11);
      const RecurrentActivation a{static_cast<RecurrentFunction>(f), 0.3F, 0.6F};
      c.activations.assign(static_cast<size_t>(c.functions()), a);
      check(std::move(c), 9);
    }
}

TEST(Recurrence, SharedOutToThreadsInEveryWay) {
  for (const int threads : {2, 3, 5}) {
    const PoolScope scope(std::make_shared<ThreadPool>(threads));
    for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm})
      for (const int64_t directions : {1, 2})
        for (const int64_t hidden : {24, 270})
          for (const int64_t batch : {1, 5, 13}) {  // 13 sequences as long as each other are shared out
            Case c = layer(kind, 3, batch, hidden);
            c.directions = directions;
            if (batch == 5) c.lengths = {3, 1, 2, 3, 3};
            check(std::move(c), 10);
          }
  }
}

TEST(Recurrence, NotANumberStaysWithItsElement) {
  for (const Kind kind : {Kind::kRnn, Kind::kGru, Kind::kLstm}) {
    Case c = layer(kind, 3, 9, 20);
    fill(c, 11);
    for (int64_t i = 0; i < c.inputs; ++i) c.x[c.row(1, 4) * c.inputs + i] = NAN;
    const Results is = computed(c);
    for (int64_t t = 0; t < 3; ++t)
      for (int64_t e = 0; e < 9; ++e)
        for (int64_t u = 0; u < 20; ++u) ASSERT_EQ(std::isnan(is.y[c.output(t, 0, e) + u]), e == 4 && t >= 1);
  }
}

TEST(Recurrence, InfiniteInputsSaturateTheFunctions) {
  Case c = layer(Kind::kLstm, 2, 1, 16);
  fill(c, 12);
  c.x.assign(c.x.size(), 1);
  c.w.assign(c.w.size(), std::numeric_limits<float>::infinity());
  const Results is = computed(c);
  for (int64_t u = 0; u < 16; ++u) EXPECT_NEAR(is.y[u], std::tanh(c.c0[u] + 1), 1e-6);
}

}  // namespace
}  // namespace assay::kernels::recurrence_test
