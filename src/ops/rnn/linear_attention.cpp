// LinearAttention: a recurrence over a state S [d_k, d_v] of every key head:
//   S = exp(g) S (rules with "gated"), v = beta (v - S^T k) (rules with "delta"), S = S + k v^T, o = scale
//   S^T q.
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/rnn/arithmetic.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_LinearAttention {
namespace {

enum Input { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct Heads {
  int64_t query, key;
};

Heads read_heads(const OpContext& c) {
  const Heads h{c.attr_int("q_num_heads"), c.attr_int("kv_num_heads")};
  c.check(h.query >= 1 && h.key >= 1 && h.query % h.key == 0,
          "{} heads of keys do not divide {} heads of queries", h.key, h.query);
  return h;
}

struct Rule {
  bool gated, delta;
};

Rule read_rule(const OpContext& c) {
  const std::string& name = c.attr_string("update_rule");
  const Rule rule{name == "gated" || name == "gated_delta", name == "delta" || name == "gated_delta"};
  c.check(rule.gated || rule.delta || name == "linear",
          "update_rule '{}' is none of linear, gated, delta, gated_delta", name);
  c.check(rule.gated == c.has_input(kDecay), "update_rule '{}' {} the input decay", name,
          rule.gated ? "needs" : "forbids");
  c.check(rule.delta == c.has_input(kBeta), "update_rule '{}' {} the input beta", name,
          rule.delta ? "needs" : "forbids");
  return rule;
}

void infer(InferContext& c) {
  const Heads heads = read_heads(c);
  read_rule(c);
  const Dims *q = c.input_dims(kQuery), *k = c.input_dims(kKey), *v = c.input_dims(kValue);
  for (const Dims* d : {q, k, v})
    c.check(d == nullptr || d->size() == 3, "an input has {} dimensions where 3 are needed",
            d ? d->size() : 0);
  const Dim key_size = q ? dim_floor_div((*q)[2], Dim(heads.query)) : Dim();
  const Dim value_size = v ? dim_floor_div((*v)[2], Dim(heads.key)) : Dim();
  const Dim batch = q ? (*q)[0] : Dim();
  c.set_output(0, c.input_dtype(kQuery), {batch, q ? (*q)[1] : Dim(), dim_mul(Dim(heads.query), value_size)});
  c.set_output(1, c.has_input(kPast) ? c.input_dtype(kPast) : c.input_dtype(kQuery),
               {batch, Dim(heads.key), key_size, value_size});
}

struct Plan {
  Heads heads;
  Rule rule;
  int64_t batch, steps, key_size, value_size;
  int64_t decays, betas;  ///< per head: numbers of a step
  double scale;
};

Plan make_plan(const EvalContext& c) {
  const Shape &q = c.shape(kQuery), &k = c.shape(kKey), &v = c.shape(kValue);
  Plan p{.heads = read_heads(c), .rule = read_rule(c)};
  c.check(q.size() == 3 && k.size() == 3 && v.size() == 3,
          "query {}, key {} and value {} must have 3 dimensions", q.str(), k.str(), v.str());
  c.check(q[2] % p.heads.query == 0 && k[2] % p.heads.key == 0 && v[2] % p.heads.key == 0,
          "{} and {} heads do not divide the sizes of query {}, key {} and value {}", p.heads.query,
          p.heads.key, q.str(), k.str(), v.str());
  p.batch = q[0];
  p.steps = q[1];
  p.key_size = q[2] / p.heads.query;
  p.value_size = v[2] / p.heads.key;
  c.check(k == (Shape{p.batch, p.steps, p.heads.key * p.key_size}) && v[0] == p.batch && v[1] == p.steps,
          "query {}, key {} and value {} do not go together", q.str(), k.str(), v.str());
  if (c.has_input(kPast))
    c.check(c.shape(kPast) == (Shape{p.batch, p.heads.key, p.key_size, p.value_size}),
            "past_state has shape {} where ({}, {}, {}, {}) is needed", c.shape(kPast).str(), p.batch,
            p.heads.key, p.key_size, p.value_size);
  for (const size_t i : {size_t{kDecay}, size_t{kBeta}}) {
    if (!c.has_input(i)) continue;
    const Shape& s = c.shape(i);
    const bool fits = s.size() == 3 && s[0] == p.batch && s[1] == p.steps &&
                      (s[2] == p.heads.key || s[2] == (i == kDecay ? p.heads.key * p.key_size : 1));
    c.check(fits, "{} has shape {}, which suits neither the heads nor their elements",
            i == kDecay ? "decay" : "beta", s.str());
    (i == kDecay ? p.decays : p.betas) = s[2];
  }
  p.scale = c.attr_float("scale");
  if (p.scale == 0) p.scale = 1 / std::sqrt(static_cast<double>(p.key_size));
  return p;
}

/// One head's state S.
template <typename A>
class HeadState {
 public:
  using Number = typename A::Number;
  HeadState(const Plan& p, A arithmetic)
      : p_(p), a_(arithmetic), s_(static_cast<size_t>(p.key_size * p.value_size), a_.given(0)) {}

  std::vector<Number>& values() { return s_; }

  void decay(const double* g) {
    const bool same = p_.decays == p_.heads.key;
    for (int64_t d = 0; d < p_.key_size; ++d) {
      a_.at(place(kDecayed, d));
      const Number factor = a_.exponential(a_.given(g[same ? 0 : d]));
      for (int64_t m = 0; m < p_.value_size; ++m) element(d, m) = a_.multiply(element(d, m), factor);
    }
  }

  /// S = S + k w^T, with w = v, or beta (v - S^T k) when `beta` is given.
  void write(const double* k, const double* v, const double* beta) {
    for (int64_t m = 0; m < p_.value_size; ++m) {
      a_.at(place(kWritten, m));
      Number w = a_.given(v[m]);
      if (beta != nullptr) w = a_.multiply(a_.given(*beta), a_.subtract(w, column_product(k, m)));
      for (int64_t d = 0; d < p_.key_size; ++d)
        element(d, m) = a_.add(element(d, m), a_.multiply(a_.given(k[d]), w));
    }
  }

  /// scale S^T q.
  void read(const double* q, int64_t head, Number* out) {
    for (int64_t m = 0; m < p_.value_size; ++m) {
      a_.at(place(kRead, head * p_.value_size + m));
      out[m] = a_.multiply(a_.given(p_.scale), column_product(q, m));
    }
  }

 private:
  enum Phase : uint8_t { kDecayed, kWritten, kRead };
  static uint64_t place(Phase phase, int64_t i) {
    return static_cast<uint64_t>(phase) << 48 | static_cast<uint64_t>(i);
  }
  Number& element(int64_t d, int64_t m) { return s_[static_cast<size_t>(d * p_.value_size + m)]; }
  /// Element m of S^T x.
  Number column_product(const double* x, int64_t m) {
    return a_.dot(x, &element(0, m), p_.value_size, p_.key_size);
  }

  const Plan& p_;
  A a_;
  std::vector<Number> s_;
};

/// All steps of one key head, number `i` of batch and heads.
template <typename A>
void run_head(const EvalContext& c, const Plan& p, int64_t i, A arithmetic, typename A::Number* out,
              typename A::Number* last) {
  const int64_t dk = p.key_size, dv = p.value_size, group = p.heads.query / p.heads.key;
  const int64_t b = i / p.heads.key, head = i % p.heads.key;
  HeadState<A> state(p, arithmetic);
  if (c.has_input(kPast))
    std::transform(c.input(kPast).data<double>() + i * dk * dv,
                   c.input(kPast).data<double>() + (i + 1) * dk * dv, state.values().begin(),
                   [&](double x) { return arithmetic.given(x); });
  for (int64_t t = 0; t < p.steps; ++t) {
    const int64_t step = b * p.steps + t;
    if (p.rule.gated)
      state.decay(c.input(kDecay).data<double>() + step * p.decays + head * (p.decays / p.heads.key));
    const double* beta =
        p.rule.delta ? c.input(kBeta).data<double>() + step * p.betas + (p.betas == 1 ? 0 : head) : nullptr;
    state.write(c.input(kKey).data<double>() + (step * p.heads.key + head) * dk,
                c.input(kValue).data<double>() + (step * p.heads.key + head) * dv, beta);
    for (int64_t h = head * group; h < (head + 1) * group; ++h)
      state.read(c.input(kQuery).data<double>() + (step * p.heads.query + h) * dk, h - head * group,
                 out + (step * p.heads.query + h) * dv);
  }
  std::copy(state.values().begin(), state.values().end(), last + i * dk * dv);
}

template <typename Number>
struct Results {
  std::vector<Number> output, state;
};

Shape output_shape(const Plan& p) { return {p.batch, p.steps, p.heads.query * p.value_size}; }
Shape state_shape(const Plan& p) { return {p.batch, p.heads.key, p.key_size, p.value_size}; }

template <typename A>
Results<typename A::Number> run(const EvalContext& c, const Plan& p, const A& arithmetic) {
  Results<typename A::Number> r;
  check_output_size(DType::kFloat64, output_shape(p));
  check_output_size(DType::kFloat64, state_shape(p));
  r.output.resize(static_cast<size_t>(output_shape(p).numel()));
  r.state.resize(static_cast<size_t>(state_shape(p).numel()));
  parallel_for(p.batch * p.heads.key, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      run_head(c, p, i, arithmetic.part(static_cast<uint64_t>(i)), r.output.data(), r.state.data());
  });
  return r;
}

void set_outputs(EvalContext& c, const Plan& p, const Results<double>& r) {
  c.set_output(0, Tensor::from<double>(output_shape(p), r.output));
  c.set_output(1, Tensor::from<double>(state_shape(p), r.state));
}

void eval(EvalContext& c) {
  const Plan p = make_plan(c);
  set_outputs(c, p, run(c, p, Exact()));
}

void perturb(EvalContext& c, double u, uint64_t key) {
  const Plan p = make_plan(c);
  set_outputs(c, p, run(c, p, Noisy(u, key)));
}

/// The recurrence with every number's error propagated (arithmetic.h).
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  const Plan p = make_plan(c);
  const Results<Tracked::Number> r = run(c, p, Tracked(u, p.key_size + 1));
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const std::vector<Tracked::Number>& numbers = i == 0 ? r.output : r.state;
  std::transform(numbers.begin(), numbers.end(), out.mutable_data<double>(),
                 [](const Tracked::Number& n) { return n.bound(); });
  return out;
}

constexpr OpVersion kVersions[] = {
    {27, R"(
in  query: T
in  key: T
in  value: T
in  past_state: S ?
in  decay: T ?
in  beta: T ?
out output: T
out present_state: S
attr chunk_size: int = 64
attr kv_num_heads: int required
attr q_num_heads: int required
attr scale: float = 0
attr update_rule: string = "gated_delta"
type T: float16 bfloat16 float
type S: float16 bfloat16 float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LinearAttention",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
};

}  // namespace assay::op_onnx_LinearAttention
