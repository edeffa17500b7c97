// DynamicQuantizeLSTM: LSTM whose weights are quantized, in columns and not in rows, and whose products
// quantize the other operand first: X, all steps together, and the hidden state at every step, to
// uint8 as DynamicQuantizeLinear does it. ONNX Runtime may split a large batch into rows; here a batch has
// one range.
#include <algorithm>
#include <cmath>

#include "ops/contrib/standard.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/quant/quantize.h"
#include "ops/rnn/lstm_cell.h"

namespace assay::op_ms_DynamicQuantizeLSTM {
namespace {

enum Input { kX, kW, kR, kWScale = 8, kWZero, kRScale, kRZero };
constexpr int64_t kOpset = 14;  // of the LSTM that computes the rest

const OpVersion& lstm_version() {
  const auto versions = op_onnx_LSTM::def.versions;
  return *std::find_if(versions.begin(), versions.end(),
                       [](const OpVersion& v) { return v.since == kOpset; });
}

/// The node as an LSTM.
class AsLstm final : public ForwardingContext {
 public:
  explicit AsLstm(InferContext& c) : ForwardingContext(c, op_onnx_LSTM::def, lstm_version()) {
    for (size_t i : {size_t{kW}, size_t{kR}}) {
      Type& t = weights_[i - kW] = c.input_type(i);
      if (t.dims && t.dims->size() == 3) std::swap((*t.dims)[1], (*t.dims)[2]);
    }
  }
  const Type& input_type(size_t i) const override {
    return i == kW || i == kR ? weights_[i - kW] : ForwardingContext::input_type(i);
  }

 private:
  Type weights_[2];
};

void infer(InferContext& c) {
  AsLstm lstm(c);
  infer_recurrent(lstm, 4, 2);
}

/// Quantized [directions, k, n] as numbers [directions, n, k]. One scale and zero point for each direction,
/// or for each of its columns.
Tensor weights(const EvalContext& c, size_t levels, size_t scale, size_t zero, const char* name) {
  const Shape &shape = c.shape(levels), &scales = c.shape(scale);
  c.check(shape.size() == 3, "{} has {} dimensions where 3 are needed", name, shape.size());
  const int64_t directions = shape[0], k = shape[1], n = shape[2];
  const bool by_column = scales.size() == 2 && scales[0] == directions && scales[1] == n;
  c.check(by_column || (scales.size() == 1 && scales[0] == directions),
          "the scale of {} has shape {}; it must be [{}] or [{}, {}]", name, scales.str(), directions,
          directions, n);
  c.check(c.shape(zero) == scales, "the zero point of {} has shape {}, its scale {}", name,
          c.shape(zero).str(), scales.str());
  const std::vector<int64_t> q = c.input(levels).to_int64(), zeros = c.input(zero).to_int64();
  const double* s = c.input(scale).data<double>();
  Tensor w = Tensor::allocate(DType::kFloat64, {directions, n, k});
  double* out = w.mutable_data<double>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(by_column ? d * n + j : d);
        out[(d * n + j) * k + i] =
            static_cast<double>(q[static_cast<size_t>((d * k + i) * n + j)] - zeros[at]) * s[at];
      }
  return w;
}

/// The node as an LSTM with numbers for weights.
EvalContext as_lstm(const EvalContext& c) {
  std::vector<Tensor> inputs(c.inputs().begin(), c.inputs().begin() + kWScale);
  inputs[kW] = weights(c, kW, kWScale, kWZero, "W");
  inputs[kR] = weights(c, kR, kRScale, kRZero, "R");
  return EvalContext(c.node(), op_onnx_LSTM::def, lstm_version(), std::move(inputs));
}

double with_error(double value, const double&, double) { return value; }
/// An inexact number may be off by one step of quantization, and so may the range.
Tracked::Number with_error(double value, const Tracked::Number& x, double scale) {
  return {value, x.error > 0 ? x.error + scale : std::fabs(value - x.value) > 0.499 * scale ? scale : 0};
}

/// An arithmetic whose products take numbers quantized
/// to 256 values over their range, which includes 0.
template <typename A>
class QuantizedProducts : public A {
 public:
  using Number = typename A::Number;
  explicit QuantizedProducts(A arithmetic) : A(std::move(arithmetic)) {}

  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n) {
    return A::product(quantized(x), rows, k, w, n);
  }

 private:
  /// In float32, the type of the numbers and of the scale.
  static std::vector<Number> quantized(const std::vector<Number>& x) {
    float low = 0, high = 0;
    for (const Number& number : x) {
      const auto value = static_cast<float>(A::value(number));
      low = std::min(low, value), high = std::max(high, value);
    }
    const float scale = high == low ? 1.0F : (high - low) / 255;
    const double zero = level_of(static_cast<double>(0.0F - low / scale), 0, DType::kUInt8);
    std::vector<Number> out;
    out.reserve(x.size());
    for (const Number& number : x) {
      const float scaled = static_cast<float>(A::value(number)) / scale;
      const double level = level_of(static_cast<double>(scaled), zero, DType::kUInt8) - zero;
      out.push_back(with_error(level * static_cast<double>(scale), number, static_cast<double>(scale)));
    }
    return out;
  }
};

void eval(EvalContext& c) {
  const EvalContext lstm = as_lstm(c);
  const Recurrence r = read_lstm(lstm);
  set_recurrent_outputs(c, r, run_lstm(lstm, r, QuantizedProducts(Exact())));
}

Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
  const EvalContext lstm = as_lstm(c);
  const Recurrence r = read_lstm(lstm);
  return recurrent_errors(r, run_lstm(lstm, r, QuantizedProducts(Tracked(u, r.gate_terms()))), i);
}

void perturb(EvalContext& c, double u, uint64_t key) {
  const EvalContext lstm = as_lstm(c);
  const Recurrence r = read_lstm(lstm);
  set_recurrent_outputs(c, r, run_lstm(lstm, r, QuantizedProducts(Noisy(u, key))));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T2
in  R: T2
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
in  initial_c: T ?
in  P: T ?
in  W_scale: T
in  W_zero_point: T2
in  R_scale: T
in  R_zero_point: T2
out Y: T ?
out Y_h: T ?
out Y_c: T ?
attr activations: strings
attr activation_alpha: floats
attr activation_beta: floats
attr clip: float
attr input_forget: int = 0
attr hidden_size: int
attr direction: string = "forward"
type T: float
type T1: int32
type T2: int8 uint8)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "DynamicQuantizeLSTM",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll, .infinities = true}}},
        },
};

}  // namespace assay::op_ms_DynamicQuantizeLSTM
