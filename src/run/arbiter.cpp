#include "run/arbiter.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "ops/eval_util.h"
#include "reference/error_bound.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Elements whose spreads are pooled at least: trailing dimensions are taken until they hold so many.
constexpr int64_t kPoolElements = 64;

int64_t pool_size(const Shape& shape) {
  int64_t n = 1;
  for (size_t i = shape.size(); i-- > 0 && n < kPoolElements;) n *= shape[i];
  return std::max<int64_t>(n, 1);
}

/// Smallest positive number of a floating type, for results that underflow.
double smallest(DType t) {
  switch (t) {
    case DType::kFloat64:
      return 0x1p-1074;
    case DType::kFloat16:
      return 0x1p-24;
    case DType::kBFloat16:
      return 0x1p-133;
    default:
      return 0x1p-149;
  }
}

/// What rounding explains for each element: kExplainedFactor times the pooled spread of the noisy lanes.
Tensor explained_by_noise(std::span<const Tensor> lanes, double u, double floor) {
  const Tensor& exact = lanes[0];
  Tensor out = Tensor::allocate(DType::kFloat64, exact.shape());
  const double* y = exact.data<double>();
  auto* e = out.mutable_data<double>();
  const int64_t pool = pool_size(exact.shape()), count = exact.numel();
  const auto samples = static_cast<double>(lanes.size() - 1);
  parallel_for((count + pool - 1) / pool, std::max<int64_t>(1, kElementGrain / pool),
               [&](int64_t first, int64_t last) {
                 for (int64_t p = first; p < last; ++p) {
                   const int64_t a = p * pool, b = std::min(count, a + pool);
                   double sum = 0;
                   for (int64_t i = a; i < b; ++i) {
                     double square = 0;
                     for (size_t s = 1; s < lanes.size(); ++s) {
                       const double d = lanes[s].data<double>()[i] - y[i];
                       square += d * d;
                     }
                     e[i] = square / samples;
                     if (std::isfinite(e[i])) sum += e[i];
                   }
                   const double pooled = sum / static_cast<double>(b - a);
                   for (int64_t i = a; i < b; ++i) {
                     const double sigma = std::sqrt(std::isfinite(e[i]) ? std::max(e[i], pooled) : HUGE_VAL);
                     e[i] = kExplainedFactor * sigma + u * std::abs(y[i]) + floor;
                   }
                 }
               });
  return out;
}

/// Error against explanation over all elements.
struct Deviation {
  double max_error = 0, exact = 0;
  double ratio = 0;
  int64_t at = -1;
  bool rounded = true;  ///< every error within u |y| (1 + u)
};

void merge(Deviation& into, const Deviation& d) {
  if (d.max_error > into.max_error) into.max_error = d.max_error, into.exact = d.exact;
  if (d.at >= 0 && (into.at < 0 || d.ratio > into.ratio)) into.ratio = d.ratio, into.at = d.at;
  into.rounded = into.rounded && d.rounded;
}

/// Equal specials are right; a finite exact value that the type cannot hold may be infinite.
bool same_special(double result, double exact, double largest) {
  if (std::isnan(exact)) return std::isnan(result);
  if (std::isinf(result))
    return std::signbit(result) == std::signbit(exact) && (std::isinf(exact) || std::abs(exact) >= largest);
  return false;
}

double largest_finite(DType t) {
  switch (t) {
    case DType::kFloat64:
      return 0x1.fffffffffffffp1023;
    case DType::kFloat16:
      return 65504;
    default:
      return 0x1.fffffep127;
  }
}

Deviation deviation(const Tensor& result, const Tensor& exact, const Tensor& explained, DType declared) {
  const double u = unit_roundoff(declared), floor = smallest(declared),
               largest = largest_finite(declared) * (1 - u);
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = explained.data<double>();
  Deviation total;
  std::mutex mutex;
  parallel_for(exact.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    Deviation d;
    for (int64_t i = first; i < last; ++i) {
      double error = std::abs(r[i] - y[i]), ratio = 0;
      if (!std::isfinite(r[i]) || !std::isfinite(y[i])) {
        if (same_special(r[i], y[i], largest) || std::isinf(e[i])) continue;
        error = ratio = HUGE_VAL;
      } else if (error > 0) {
        ratio = e[i] > 0 ? error / e[i] : HUGE_VAL;
        if (error > u * std::abs(y[i]) * (1 + u) + floor) d.rounded = false;
      }
      if (error > d.max_error) d.max_error = error, d.exact = y[i];
      if (ratio > d.ratio || d.at < 0) d.ratio = ratio, d.at = i;
    }
    if (std::isinf(d.max_error)) d.rounded = false;
    const std::lock_guard lock(mutex);
    merge(total, d);
  });
  return total;
}

/// The whole of one arbitration.
class Arbiter {
 public:
  Arbiter(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
          std::span<const ArbiterCase> cases)
      : model_(model), feed_(feed), cases_(cases) {
    for (const ArbiterCase& c : cases) {
      auto& by_name = results_.emplace_back();
      for (const NamedStoredTensor& t : *c.outputs) by_name.emplace(t.name, &t.tensor);
    }
  }

  Arbitration run(const ArbiterOptions& options);

 private:
  void judge(const Value& v, std::span<const Tensor> lanes);
  void judge_floats(const Tensor& result, std::span<const Tensor> lanes, DType declared, ArbiterVerdict& out);
  static void judge_exact(const Tensor& result, std::span<const Tensor> lanes, ArbiterVerdict& out);
  NodeFinding trace(size_t runner, const Value& v, const ArbiterVerdict& verdict);
  bool own_inputs(size_t runner, const Node& n, std::vector<Tensor>& inputs, std::string& missing) const;
  Tensor seen(size_t runner, const Value& v) const;

  const std::shared_ptr<const Model>& model_;
  std::span<const Tensor> feed_;
  std::span<const ArbiterCase> cases_;
  std::vector<std::unordered_map<std::string_view, const StoredTensor*>> results_;
  Arbitration arbitration_;
};

Arbitration Arbiter::run(const ArbiterOptions& options) {
  std::vector<const Value*> wanted;
  for (const auto& v : model_->graph->values())
    for (const auto& by_name : results_)
      if (by_name.contains(v->name())) {
        wanted.push_back(v.get());
        break;
      }
  if (wanted.empty()) return {};
  Interpreter interpreter(model_, {.noisy_lanes = options.samples, .seed = options.seed});
  interpreter.run(
      feed_, [&](const Value& v, std::span<const Tensor> lanes) { judge(v, lanes); }, wanted);
  return std::move(arbitration_);
}

void Arbiter::judge(const Value& v, std::span<const Tensor> lanes) {
  const Tensor& exact = lanes[0];
  const bool comparable =
      std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) { return t.shape() == exact.shape(); });
  for (size_t r = 0; r < cases_.size(); ++r) {
    const auto it = results_[r].find(v.name());
    if (it == results_[r].end()) continue;
    ArbiterVerdict out{.runner = cases_[r].runner, .output = v.name(), .problem = {}, .shape = exact.shape()};
    const StoredTensor& stored = *it->second;
    if (stored.shape() != exact.shape()) {
      // Where rounding decides the shape itself, another shape is no error.
      out.verdict = comparable ? Verdict::kWrong : Verdict::kRounding;
      out.problem = fmt::format("its shape is {}, not {}", stored.shape().str(), exact.shape().str());
    } else if (!comparable) {
      out.verdict = Verdict::kRounding;
      out.problem = "rounding decides its shape, so its values cannot be judged";
    } else if (is_float(exact.dtype()) != is_float(stored.dtype())) {
      out.verdict = Verdict::kWrong;
      out.problem =
          fmt::format("its type is {}, not {}", dtype_name(stored.dtype()), dtype_name(exact.dtype()));
    } else if (is_float(exact.dtype())) {
      judge_floats(stored.load(), lanes, stored.dtype(), out);
    } else {
      judge_exact(stored.load(), lanes, out);
    }
    if (out.verdict == Verdict::kWrong && v.producer() != nullptr)
      arbitration_.findings.push_back(trace(r, v, out));
    arbitration_.outputs.push_back(std::move(out));
    stored.release();
  }
}

void Arbiter::judge_floats(const Tensor& result, std::span<const Tensor> lanes, DType declared,
                           ArbiterVerdict& out) {
  const Tensor explained = explained_by_noise(lanes, unit_roundoff(declared), smallest(declared));
  const Tensor wide = to_float64(result);
  const Deviation d = deviation(wide, lanes[0], explained, declared);
  out.max_error = d.max_error;
  out.exact = d.exact;
  out.worst_ratio = d.ratio;
  out.worst_at = d.at;
  if (d.at >= 0) {
    out.worst_exact = lanes[0].data<double>()[d.at];
    out.worst_result = wide.data<double>()[d.at];
    out.worst_error = std::abs(out.worst_result - out.worst_exact);
    out.worst_explained = explained.data<double>()[d.at];
  }
  out.verdict = d.ratio > 1 ? Verdict::kWrong : d.rounded ? Verdict::kAgrees : Verdict::kRounding;
}

/// Integers, booleans and strings: equal, or as undecided as the noisy evaluations are among themselves.
void Arbiter::judge_exact(const Tensor& result, std::span<const Tensor> lanes, ArbiterVerdict& out) {
  if (result.identical(lanes[0])) return;
  if (result.dtype() != lanes[0].dtype()) {
    out.verdict = Verdict::kWrong;
    out.problem =
        fmt::format("its type is {}, not {}", dtype_name(result.dtype()), dtype_name(lanes[0].dtype()));
    return;
  }
  const bool undecided =
      std::any_of(lanes.begin() + 1, lanes.end(), [&](const Tensor& t) { return !t.identical(lanes[0]); });
  out.verdict = undecided ? Verdict::kRounding : Verdict::kWrong;
  out.problem = undecided ? "its values differ where rounding decides them" : "its values differ";
  if (result.dtype() == DType::kString || is_packed(result.dtype())) return;
  const auto bytes = static_cast<size_t>(bit_width(result.dtype()) / 8);
  const auto *a = static_cast<const char*>(result.data()), *b = static_cast<const char*>(lanes[0].data());
  for (int64_t i = 0; i < result.numel() && out.worst_at < 0; ++i)
    if (!std::equal(a + static_cast<size_t>(i) * bytes, a + static_cast<size_t>(i + 1) * bytes,
                    b + static_cast<size_t>(i) * bytes))
      out.worst_at = i;
}

/// The value as this runner saw it, float64 for floats; undefined when it is not among its results.
Tensor Arbiter::seen(size_t runner, const Value& v) const {
  const auto ready = [](const Tensor& t) { return is_float(t.dtype()) ? to_float64(t) : t.aligned(); };
  if (v.tensor().defined()) return ready(v.tensor());
  const auto& inputs = model_->graph->inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] == &v) return ready(feed_[i]);
  const auto it = results_[runner].find(v.name());
  return it == results_[runner].end() ? Tensor() : ready(it->second->load());
}

bool Arbiter::own_inputs(size_t runner, const Node& n, std::vector<Tensor>& inputs,
                         std::string& missing) const {
  for (const Value* v : n.inputs()) {
    inputs.push_back(v == nullptr ? Tensor() : seen(runner, *v));
    if (v != nullptr && !inputs.back().defined()) {
      missing = fmt::format("its input '{}' is not among the outputs", v->name());
      return false;
    }
  }
  for (const Attribute& a : n.attributes)
    if (a.get_if<std::shared_ptr<Graph>>() != nullptr) {
      missing = "it runs a subgraph";
      return false;
    }
  return true;
}

NodeFinding Arbiter::trace(size_t runner, const Value& v, const ArbiterVerdict& verdict) {
  const Node& n = *v.producer();
  NodeFinding f{.runner = cases_[runner].runner,
                .node = n.label(),
                .output = v.name(),
                .ratio = verdict.worst_ratio,
                .missing = {}};
  std::vector<Tensor> inputs;
  if (!own_inputs(runner, n, inputs, f.missing)) return f;
  const BoundOp op = require_op(n, *model_);
  EvalContext c(n, *op.op, *op.version, inputs);
  c.ideal = true;
  op.version->eval(c);
  std::vector<Tensor> y = c.outputs();
  const auto index =
      static_cast<size_t>(std::find(n.outputs().begin(), n.outputs().end(), &v) - n.outputs().begin());
  const Tensor result = seen(runner, v);
  f.origin = NodeFinding::Origin::kMade;
  if (result.shape() != y[index].shape() || !is_float(result.dtype()) || !is_float(y[index].dtype())) {
    if (result.identical(y[index])) f.origin = NodeFinding::Origin::kInherited;
    f.proven = f.origin == NodeFinding::Origin::kMade;
    return f;
  }
  for (Tensor& t : y)
    if (t.defined() && is_float(t.dtype())) t = to_float64(t);
  const DType declared = results_[runner].at(v.name())->dtype();
  const std::vector<double> u(y.size(), unit_roundoff(declared));
  EvalContext again(n, *op.op, *op.version, inputs);
  again.ideal = true;
  const auto ratio_under = [&](BoundModel model, double factor) {
    const Tensor bound = error_bounds(again, y, u, model)[index];
    Tensor explained =
        map_elements<double>(y[index], [&](double x) { return u[index] * std::abs(x) + smallest(declared); });
    if (bound.defined())
      explained = map_broadcast<double>(explained, bound, [&](double a, double b) { return a + factor * b; });
    return deviation(result, y[index], explained, declared).ratio;
  };
  const double worst_case = ratio_under(BoundModel::kWorstCase, 1);
  // The worst-case bound always holds, so it caps the statistical one.
  f.own_ratio = std::max(worst_case, ratio_under(BoundModel::kStatistical, kExplainedFactor));
  f.proven = worst_case > 1;
  if (f.own_ratio <= 1) f.origin = NodeFinding::Origin::kInherited;
  return f;
}

}  // namespace

bool Arbitration::all_right() const {
  return std::none_of(outputs.begin(), outputs.end(),
                      [](const ArbiterVerdict& o) { return o.verdict == Verdict::kWrong; });
}

Arbitration arbitrate(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                      std::span<const ArbiterCase> cases, const ArbiterOptions& options) {
  return Arbiter(model, feed, cases).run(options);
}

}  // namespace assay
