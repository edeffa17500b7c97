// BatchNormalization: y = (x - mean) / sqrt(var + epsilon) * scale + B for each channel. In inference mean
// and var are inputs; in training (training_mode, before opset 14 any output beyond the first, if the
// attribute is_test of before opset 7 allows it) they are those of the batch, and the running mean and
// variance are outputs.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/normalize.h"
#include "ops/op_list.h"

namespace assay {

bool is_batch_training(const OpContext& c) {
  if (c.since() >= 14) return c.attr_int("training_mode") != 0;
  if (c.since() < 7 && c.attr_int("is_test") != 0) return false;
  for (size_t i = 1; i < c.output_count(); ++i)
    if (c.wants_output(i)) return true;
  return false;
}

}  // namespace assay

namespace assay::op_onnx_BatchNormalization {
namespace {

/// Before opset 9 each feature can be normalized instead of each channel.
bool is_spatial(const OpContext& c) { return c.since() >= 9 || c.attr_int("spatial") != 0; }

void check_outputs(const OpContext& c) {
  if (is_batch_training(c)) return;
  for (size_t i = 1; i < c.output_count(); ++i)
    c.check(!c.wants_output(i), "output {} is there only in training: attribute '{}' says that this is none",
            i, c.since() >= 14 ? "training_mode" : "is_test");
}

void infer(InferContext& c) {
  check_outputs(c);
  infer_same_as_input(c);
  const Dims* in = c.input_dims(0);
  if (in != nullptr)
    c.check(in->size() >= 2, "the input has {} dimensions; it needs batch and channels", in->size());
  Dims statistics = {in != nullptr ? (*in)[1] : Dim()};
  if (in != nullptr && !is_spatial(c)) statistics.assign(in->begin() + 1, in->end());
  for (size_t i = 1; i < 5; ++i) {
    const Dims* d = c.input_dims(i);
    if (d == nullptr) continue;
    for (size_t k = 0; k < std::min(d->size(), statistics.size()); ++k)
      c.check(!(*d)[k].is_known() || !statistics[k].is_known() || (*d)[k].value() == statistics[k].value(),
              "input {} has {} elements for {} channels", i, (*d)[k].str(), statistics[k].str());
  }
  for (size_t i = 1; i < c.output_count(); ++i) {
    if (in == nullptr && !is_spatial(c))
      c.set_output(i, c.input_dtype(3));
    else
      c.set_output(i, c.input_dtype(3), statistics);
  }
}

struct Plan {
  Shape statistics;  ///< of scale, B, mean and var
  int64_t batch, channels, inner;
  double epsilon;
};

Plan make_plan(const EvalContext& c) {
  check_outputs(c);
  const Shape& in = c.shape(0);
  c.check(in.size() >= 2, "the input has shape {}; it needs batch and channels", in.str());
  Plan p{.statistics = {in[1]},
         .batch = in[0],
         .channels = in[1],
         .inner = in.numel(2, in.size()),
         .epsilon = c.attr_float("epsilon")};
  if (!is_spatial(c)) {
    p.statistics = Shape(in.begin() + 1, in.end());
    p.channels = p.statistics.numel();
    p.inner = 1;
  }
  for (size_t i = 1; i < 5; ++i)
    c.check(c.shape(i) == p.statistics, "input {} has shape {} where {} is needed", i, c.shape(i).str(),
            p.statistics.str());
  return p;
}

std::vector<Moments> batch_moments(const EvalContext& c, const Plan& p) {
  c.check(p.batch * p.inner > 0, "the batch of shape {} is empty", c.shape(0).str());
  std::vector<Moments> out(static_cast<size_t>(p.channels));
  const double* x = c.input(0).data<double>();
  parallel_for(p.channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t channel = first; channel < last; ++channel) {
      MomentSums sums;
      for (int64_t n = 0; n < p.batch; ++n) sums.add_first(x + (n * p.channels + channel) * p.inner, p.inner);
      sums.finish_mean();
      for (int64_t n = 0; n < p.batch; ++n)
        sums.add_second(x + (n * p.channels + channel) * p.inner, p.inner);
      out[static_cast<size_t>(channel)] = sums.finish();
    }
  });
  return out;
}

std::vector<Moments> given_moments(const EvalContext& c, const Plan& p) {
  std::vector<Moments> out(static_cast<size_t>(p.channels));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = {.mean = c.input(3).data<double>()[i], .variance = c.input(4).data<double>()[i]};
  return out;
}

/// Y, its magnitude (for given statistics that of x * s + (b - mean * s)), or its drift.
Tensor normalize(const EvalContext& c, const Plan& p, const std::vector<Moments>& all, bool training,
                 Normalized what) {
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double *x = c.input(0).data<double>(), *scale = c.input(1).data<double>(),
               *shift = c.input(2).data<double>();
  double* out = y.mutable_data<double>();
  parallel_for(
      p.batch * p.channels, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(p.inner, 1)),
      [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          const int64_t channel = row % p.channels;
          const Moments& m = all[static_cast<size_t>(channel)];
          const double inverse = inverse_deviation(m, p.epsilon), a = scale[channel], b = shift[channel];
          const double* from = x + row * p.inner;
          double* to = out + row * p.inner;
          const auto each = [&](auto f) {
#pragma omp simd
            for (int64_t i = 0; i < p.inner; ++i) to[i] = f(from[i]);
          };
          if (what == Normalized::kValues || (what == Normalized::kDrifts && !training))
            each([=](double x) { return (x - m.mean) * (inverse * a) + b; });
          else if (what == Normalized::kDrifts)
            each([=](double x) { return normalized_drift(x, m, inverse) * std::fabs(a); });
          else if (training)
            each([=](double x) { return normalized_magnitude(x, m, inverse) * std::fabs(a) + std::fabs(b); });
          else
            each([=](double x) {
              return (std::fabs(x) + std::fabs(m.mean)) * inverse * std::fabs(a) + std::fabs(b);
            });
        }
      });
  return y;
}

/// The outputs of training beyond Y: running mean and variance, and before opset 14 those of the batch.
void set_statistics(EvalContext& c, const Plan& p, const std::vector<Moments>& all, Normalized what) {
  const bool magnitude = what == Normalized::kMagnitudes;
  const double momentum = c.attr_float("momentum");
  for (size_t i = 1; i < c.output_count(); ++i) {
    Tensor t = Tensor::allocate(DType::kFloat64, p.statistics);
    const double* old = c.input(i % 2 == 1 ? 3 : 4).data<double>();
    double* out = t.mutable_data<double>();
    for (size_t k = 0; k < all.size(); ++k) {
      const double mean = magnitude ? all[k].mean_abs : all[k].mean;
      const double variance =
          all[k].variance + (magnitude ? std::sqrt(all[k].variance) * all[k].mean_abs : 0.0);
      const double batch = i % 2 == 1 ? mean : variance, before = magnitude ? std::fabs(old[k]) : old[k];
      out[k] = i <= 2 ? before * momentum + batch * (1 - momentum) : batch;
    }
    c.set_output(i, std::move(t));
  }
}

void compute(EvalContext& c, Normalized what) {
  const Plan p = make_plan(c);
  const bool training = is_batch_training(c);
  const std::vector<Moments> all = training ? batch_moments(c, p) : given_moments(c, p);
  c.set_output(0, normalize(c, p, all, training, what));
  if (training) set_statistics(c, p, all, what);
}

void eval(EvalContext& c) { compute(c, Normalized::kValues); }
void magnitude(EvalContext& c) { compute(c, Normalized::kMagnitudes); }
void drift(EvalContext& c) { compute(c, Normalized::kDrifts); }

int64_t terms(EvalContext& c) {
  const Plan p = make_plan(c);
  return 8 + (is_batch_training(c) ? p.batch * p.inner : 0);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  scale: T
in  B: T
in  mean: T
in  var: T
out Y: T
out mean: T ?
out var: T ?
out saved_mean: T ?
out saved_var: T ?
attr consumed_inputs: ints required
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
attr is_test: int = 0
attr spatial: int = 1
type T: @float)",
     infer, eval},
    {6, R"(
in  X: T
in  scale: T
in  B: T
in  mean: T
in  var: T
out Y: T
out mean: T ?
out var: T ?
out saved_mean: T ?
out saved_var: T ?
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
attr is_test: int = 0
attr spatial: int = 1
type T: @float)",
     infer, eval},
    {7, R"(
in  X: T
in  scale: T
in  B: T
in  mean: T
in  var: T
out Y: T
out mean: T ?
out var: T ?
out saved_mean: T ?
out saved_var: T ?
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
attr spatial: int = 1
type T: @float)",
     infer, eval},
    {9, R"(
in  X: T
in  scale: T
in  B: T
in  mean: T
in  var: T
out Y: T
out mean: T ?
out var: T ?
out saved_mean: T ?
out saved_var: T ?
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
type T: @float)",
     infer, eval},
    {14, R"(
in  X: T
in  scale: T
in  B: T
in  input_mean: U
in  input_var: U
out Y: T
out running_mean: U ?
out running_var: U ?
attr training_mode: int = 0
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
type T: @float_ir4
type U: @float_ir4)",
     infer, eval},
    {15, R"(
in  X: T
in  scale: T1
in  B: T1
in  input_mean: T2
in  input_var: T2
out Y: T
out running_mean: T2 ?
out running_var: T2 ?
attr training_mode: int = 0
attr momentum: float = 0.899999976
attr epsilon: float = 9.99999975e-06
type T: @float_ir4
type T1: @float_ir4
type T2: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BatchNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating,
                 .terms = terms,
                 .magnitude = magnitude,
                 .drift = drift},
};

}  // namespace assay::op_onnx_BatchNormalization
