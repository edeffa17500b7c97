// LinearAttention: a recurrence over a state S [d_k, d_v] of every key head:
//   S = exp(g) S (rules with "gated"), v = beta (v - S^T k) (rules with "delta"), S = S + k v^T, o = scale
//   S^T q.
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay {
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

/// One head's state and, in the same places, the squares of its errors. Errors are first-order: those made in
/// a step have the worst-case size, and they are taken as independent when they add up over steps and
/// elements.
class HeadState {
 public:
  HeadState(const Plan& p, double u)
      : p_(p), u_(u), s_(static_cast<size_t>(p.key_size * p.value_size)), e_(s_.size()) {}

  std::vector<double>& values() { return s_; }
  const std::vector<double>& squares() const { return e_; }

  void decay(const double* g) {
    for (size_t i = 0; i < s_.size(); ++i) {
      const double log = g[p_.decays == p_.heads.key ? 0 : static_cast<int64_t>(i) / p_.value_size],
                   factor = std::exp(log);
      s_[i] *= factor;
      e_[i] = e_[i] * factor * factor + square(u_ * (std::fabs(log) + 4) * s_[i]);
    }
  }

  /// S = S + k w^T, with w = v, or beta (v - S^T k) when `beta` is given.
  void write(const double* k, const double* v, const double* beta) {
    for (int64_t m = 0; m < p_.value_size; ++m) {
      double w = v[m], error = 0;
      if (beta != nullptr) {
        const Sum read = product(k, m);
        w = *beta * (v[m] - read.value);
        error = square(*beta) * read.error + square(2 * u_ * w) +
                square(u_ * *beta * (std::fabs(v[m]) + std::fabs(read.value)));
      }
      for (int64_t d = 0; d < p_.key_size; ++d) {
        const auto i = static_cast<size_t>(d * p_.value_size + m);
        s_[i] += k[d] * w;
        e_[i] += square(k[d]) * error + square(u_ * (std::fabs(s_[i]) + std::fabs(k[d] * w)));
      }
    }
  }

  struct Sum {
    double value, error;
  };
  /// Element m of S^T x, and the square of its error.
  Sum product(const double* x, int64_t m) const {
    double sum = 0, magnitude = 0, passed = 0;
    for (int64_t d = 0; d < p_.key_size; ++d) {
      const auto i = static_cast<size_t>(d * p_.value_size + m);
      sum += x[d] * s_[i];
      magnitude += std::fabs(x[d] * s_[i]);
      passed += square(x[d]) * e_[i];
    }
    return {sum, passed + square(u_ * static_cast<double>(p_.key_size + 1) * magnitude)};
  }

 private:
  static double square(double x) { return x * x; }

  const Plan& p_;
  double u_;
  std::vector<double> s_, e_;
};

/// Output and state, or with u > 0 bounds of their errors.
struct Results {
  Tensor output, state;
};

Results run(const EvalContext& c, double u) {
  const Plan p = make_plan(c);
  const int64_t dk = p.key_size, dv = p.value_size, group = p.heads.query / p.heads.key;
  Results r{.output = Tensor::allocate(DType::kFloat64, {p.batch, p.steps, p.heads.query * dv}),
            .state = Tensor::allocate(DType::kFloat64, {p.batch, p.heads.key, dk, dv})};
  double *out = r.output.mutable_data<double>(), *last = r.state.mutable_data<double>();
  parallel_for(p.batch * p.heads.key, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const int64_t b = i / p.heads.key, head = i % p.heads.key;
      HeadState state(p, u);
      if (c.has_input(kPast))
        std::copy_n(c.input(kPast).data<double>() + i * dk * dv, dk * dv, state.values().begin());
      for (int64_t t = 0; t < p.steps; ++t) {
        const int64_t step = b * p.steps + t;
        if (p.rule.gated)
          state.decay(c.input(kDecay).data<double>() + step * p.decays + head * (p.decays / p.heads.key));
        const double* beta = p.rule.delta
                                 ? c.input(kBeta).data<double>() + step * p.betas + (p.betas == 1 ? 0 : head)
                                 : nullptr;
        state.write(c.input(kKey).data<double>() + (step * p.heads.key + head) * dk,
                    c.input(kValue).data<double>() + (step * p.heads.key + head) * dv, beta);
        for (int64_t h = head * group; h < (head + 1) * group; ++h)
          for (int64_t m = 0; m < dv; ++m) {
            const HeadState::Sum sum =
                state.product(c.input(kQuery).data<double>() + (step * p.heads.query + h) * dk, m);
            const double value = p.scale * sum.value;
            out[(step * p.heads.query + h) * dv + m] =
                u == 0 ? value : 2 * std::fabs(p.scale) * std::sqrt(sum.error) + 2 * u * std::fabs(value);
          }
      }
      for (int64_t k = 0; k < dk * dv; ++k)
        last[i * dk * dv + k] = u == 0 ? state.values()[static_cast<size_t>(k)]
                                       : 2 * std::sqrt(state.squares()[static_cast<size_t>(k)]);
    }
  });
  return r;
}

void eval(EvalContext& c) {
  Results r = run(c, 0);
  c.set_output(0, std::move(r.output));
  c.set_output(1, std::move(r.state));
}

/// Twice the error that HeadState carries through the recurrence.
Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
  Results r = run(c, u);
  return i == 0 ? r.output : r.state;
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

constinit const OpDef op_onnx_LinearAttention = {
    .domain = "",
    .name = "LinearAttention",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay
