#include "arbiter/left_open.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "arbiter/float_range.h"
#include "arbiter/judge.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "ops/numerics/noise.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

struct IntegerRange {
  explicit IntegerRange(DType t)
      : low(is_signed_integer(t) ? -std::ldexp(1, static_cast<int>(bit_width(t)) - 1) : 0),
        high(std::ldexp(1, static_cast<int>(bit_width(t)) - (is_signed_integer(t) ? 1 : 0))) {}
  bool holds(double x) const { return x >= low && x < high; }
  double low, high;  ///< the second is the first number beyond
};

/// Elements that differ only where `exact` is beyond the type make the result open.
bool differs_only_beyond(const StoredTensor& stored, const Tensor& reference, const Tensor& exact,
                         const std::string& what, ArbiterVerdict& out) {
  const Tensor own = convert(stored.load(), DType::kFloat64), y = convert(reference, DType::kFloat64);
  const IntegerRange range(stored.dtype());
  int64_t open = 0, beyond = 0;
  for (int64_t i = own.numel(); i-- > 0;) {
    if (own.data<double>()[i] == y.data<double>()[i]) continue;
    if (!range.holds(std::trunc(exact.data<double>()[i]))) {  // nor does it hold NaN
      ++open;
      continue;
    }
    ++beyond;
    out.worst_at = i;
  }
  if (open == 0 || beyond > 0) return false;
  out.verdict = Verdict::kOpen;
  out.note = fmt::format("{} element(s) are {} that {} cannot hold", open, what, dtype_name(stored.dtype()));
  out.beyond = 0;
  return true;
}

/// Integers that overflow wrap, saturate or trap, as the processor and the compiler have it.
bool overflows(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
               ArbiterVerdict& out) {
  const uint8_t numbers = facts_of(suspect.node, suspect.model).overflows;
  if (numbers == 0 || !is_integer(stored.dtype())) return false;
  std::vector<Tensor> inputs = trial.inputs();
  for (size_t i = 0; i < inputs.size() && i < numbers; ++i)
    if (inputs[i].defined()) inputs[i] = convert(inputs[i], DType::kFloat64);
  const Tensor exact = trial.evaluate(std::move(inputs)), wrapped = trial.evaluate(trial.inputs());
  if (!exact.defined() || exact.shape() != stored.shape() || exact.dtype() != DType::kFloat64 ||
      !wrapped.defined())
    return false;
  return differs_only_beyond(stored, wrapped, exact, "results of integer arithmetic", out);
}

/// Without sorted=1 the order of what TopK found is the backend's: the same elements in any order are right.
bool is_in_another_order(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                         ArbiterVerdict& out) {
  const Node& n = suspect.node;
  if (!is_op(n, "TopK") || int_attribute(n, "sorted", 1) != 0 || n.outputs().size() != 2) return false;
  const Tensor x = convert(trial.inputs()[0], DType::kFloat64);
  const Tensor exact = convert(trial.evaluate(trial.inputs()), DType::kFloat64);
  const Tensor result = convert(stored.load(), DType::kFloat64);
  if (exact.shape() != result.shape() || x.shape().empty()) return false;
  const auto rank = static_cast<int64_t>(x.shape().size());
  const int64_t given = int_attribute(n, "axis", -1);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  const bool indices = n.output(1) == &suspect.output;
  const int64_t k = exact.dim(axis), extent = x.dim(axis),
                inner = x.shape().numel(axis + 1, x.shape().size());
  const Tensor values = indices && n.output(0) != nullptr ? suspect.own(*n.output(0)) : Tensor();
  const Tensor beside = values.defined() ? convert(values, DType::kFloat64) : Tensor();
  const bool paired = beside.defined() && beside.shape() == result.shape();
  const auto at = [&](const Tensor& t, int64_t row, int64_t i, int64_t of) {
    return t.data<double>()[(row / inner * of + i) * inner + row % inner];
  };
  const int64_t rows = k == 0 ? 0 : exact.numel() / k;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> found, wanted, places;
    for (int64_t i = 0; i < k; ++i) {
      double r = at(result, row, i, k), y = at(exact, row, i, k);
      if (indices) {
        if (!(r >= 0 && r < static_cast<double>(extent))) return false;
        places.push_back(r);
        r = at(x, row, static_cast<int64_t>(r), extent);
        y = at(x, row, static_cast<int64_t>(y), extent);
        if (paired && r != at(beside, row, i, k)) return false;
      }
      found.push_back(r);
      wanted.push_back(y);
    }
    for (std::vector<double>* list : {&found, &wanted, &places}) std::ranges::sort(*list);
    if (found != wanted || std::ranges::adjacent_find(places) != places.end()) return false;
  }
  out.verdict = Verdict::kOpen;
  out.note = "with sorted=0 the order of the elements is the backend's choice";
  out.beyond = 0;
  return true;
}

/// Casts of what the type cannot hold.
bool is_out_of_range(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                     ArbiterVerdict& out) {
  if (suspect.node.op_type != "Cast" || !(is_integer(stored.dtype()) || stored.dtype() == DType::kBool))
    return false;
  const Tensor& from = trial.inputs()[0];
  if (!is_float(from.dtype()) || from.shape() != stored.shape()) return false;
  return differs_only_beyond(stored, trial.evaluate(trial.inputs()), to_float64(from), "casts of numbers",
                             out);
}

/// Zeros, or numbers so small that their step is below the normal ones and may be taken as zero.
bool has_no_range(const SuspectNode& suspect, const Trial& trial, const StoredTensor&, ArbiterVerdict& out) {
  if (suspect.node.op_type != "DynamicQuantizeLinear" || trial.inputs().size() != 1) return false;
  const Tensor wide = to_float64(trial.inputs()[0]);
  double low = 0, high = 0;
  for (const double v : wide.span<double>()) low = std::min(low, v), high = std::max(high, v);
  if (!((high - low) / 255 < float_range(DType::kFloat32).normal)) return false;
  out.verdict = Verdict::kOpen;
  out.note = "its input is zero, or as good as: by ONNX's definition the scale is 0, and values are 0/0";
  out.beyond = 0;
  return true;
}

/// ONNX does not say how an interpolated number becomes an integer: runtimes round it or cut it off.
bool is_interpolated_integer(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                             ArbiterVerdict& out) {
  const Node& n = suspect.node;
  if (!(is_op(n, "Resize") || is_op(n, "Upsample")) || !is_integer(stored.dtype()) ||
      string_attribute(n, "mode", "nearest") == "nearest")
    return false;
  std::vector<Tensor> inputs = trial.inputs();
  inputs[0] = convert(inputs[0], DType::kFloat64);
  const Tensor y = trial.evaluate(std::move(inputs));
  if (!y.defined() || y.shape() != stored.shape()) return false;
  const double* p = y.data<double>();
  if (!are_between(
          stored, [=](int64_t i) { return std::ceil(p[i] - 1); }, [=](int64_t i) { return std::ceil(p[i]); },
          out))
    return false;
  out.verdict = Verdict::kOpen;
  out.note = "ONNX does not say how an interpolated number is rounded to an integer";
  return true;
}

/// Whether a Dropout drops, or may: in training, which only a constant input rules out.
bool trains(const Node& dropout, int since) {
  constexpr int kAttributeAlone = 7, kInput = 12;
  if (since < kAttributeAlone) return int_attribute(dropout, "is_test", 0) == 0;
  const Value* mode = since >= kInput ? dropout.input(2) : nullptr;
  if (mode == nullptr) return false;
  Tensor constant;
  if (const UnalignedTensor* t = constant_of(mode)) constant = t->aligned();
  return !constant.defined() || constant.dtype() != DType::kBool || constant.numel() != 1 ||
         constant.data<bool>()[0];
}

/// What is quantised dynamically together, and so gets one scale, depends on how a backend shares the work
/// out among its threads. A number's own scale is no coarser than that of all numbers.
bool is_quantised_in_parts(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                           ArbiterVerdict& out) {
  if (suspect.node.op_type != "DynamicQuantizeLSTM" || !is_float(stored.dtype())) return false;
  constexpr int kDraws = 8;
  constexpr double kLevels = 255, kFactor = 4;
  const Tensor exact = trial.evaluate(trial.inputs());
  if (!exact.defined() || exact.shape() != stored.shape()) return false;
  const Tensor& x = trial.inputs()[0];
  double low = 0, high = 0;
  for (const double v : x.span<double>()) low = std::min(low, v), high = std::max(high, v);
  const double step = (high - low) / kLevels;
  double most = 1 / kLevels;  // of the hidden state, which is below 1 and quantised likewise
  for (int k = 0; k < kDraws; ++k) {
    std::vector<Tensor> inputs = trial.inputs();
    inputs[0] = map_elements<double>(x, [](double v) { return v; });
    const auto moved = inputs[0].mutable_span<double>();
    for (size_t i = 0; i < moved.size(); ++i) moved[i] += step * noise(static_cast<uint64_t>(k), i);
    const Tensor y = trial.evaluate(std::move(inputs));
    if (!y.defined() || y.shape() != exact.shape()) return false;
    for (int64_t i = 0; i < y.numel(); ++i)
      most = std::max(most, std::abs(y.data<double>()[i] - exact.data<double>()[i]));
  }
  const Tensor own = to_float64(stored.load());
  for (int64_t i = 0; i < own.numel(); ++i)
    if (!(std::abs(own.data<double>()[i] - exact.data<double>()[i]) <= kFactor * most)) return false;
  out.verdict = Verdict::kOpen;
  out.note = "what is quantised together, with one scale, depends on how the threads share the work";
  out.certain = false;
  out.beyond = 0;
  return true;
}

}  // namespace

bool is_random(const Node& node, const Model& model) {
  const BoundOp op = bind_op(node, model);
  if (!op || !op.op->random) return false;
  return node.op_type != "Dropout" || trains(node, op.version->since);
}

bool is_open_cast(std::span<const Tensor> given, const StoredTensor& stored, const Standard& standard,
                  ArbiterVerdict& out) {
  const Tensor& exact = standard.lanes[0];
  if (!is_integer(stored.dtype()) || is_packed(stored.dtype()) || stored.dtype() != exact.dtype() ||
      stored.shape() != exact.shape())
    return false;
  const IntegerRange range(stored.dtype());
  std::vector<bool> open(static_cast<size_t>(exact.numel()));
  for (const Tensor& lane : given) {
    if (!is_float(lane.dtype()) || lane.shape() != exact.shape()) return false;
    const Tensor wide = to_float64(lane);
    for (size_t i = 0; i < open.size(); ++i)
      if (!range.holds(std::trunc(wide.data<double>()[i]))) open[i] = true;
  }
  const auto count = std::ranges::count(open, true);
  if (count == 0) return false;
  const size_t size = bit_width(exact.dtype()) / 8;
  const auto closed = [&](const Tensor& t) {
    if (t.dtype() != exact.dtype() || t.shape() != exact.shape()) return t;
    Tensor copy = Tensor::allocate(t.dtype(), t.shape());
    for (size_t i = 0; i < open.size(); ++i)
      std::memcpy(static_cast<char*>(copy.mutable_data()) + i * size,
                  static_cast<const char*>((open[i] ? exact : t).data()) + i * size, size);
    return copy;
  };
  std::vector<Tensor> lanes;
  for (const Tensor& lane : standard.lanes) lanes.push_back(closed(lane));
  Standard rest = standard;
  rest.lanes = lanes;
  ArbiterVerdict judged;
  judge_result(StoredTensor(closed(stored.load())), rest, judged);
  if (judged.verdict != Verdict::kAgrees && judged.verdict != Verdict::kRounding) return false;
  out.verdict = Verdict::kOpen;
  out.note = fmt::format("{} element(s) may be casts of numbers that {} cannot hold", count,
                         dtype_name(stored.dtype()));
  out.problem.clear();
  out.beyond = 0;
  return true;
}

std::optional<Excuse> left_open(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                                const ExcuseSet& excuses, ArbiterVerdict& out) {
  struct Open {
    Excuse excuse;
    bool (*applies)(const SuspectNode&, const Trial&, const StoredTensor&, ArbiterVerdict&);
  };
  static constexpr Open kOpen[] = {
      {Excuse::kZeroRange, has_no_range},
      {Excuse::kCastBeyond, is_out_of_range},
      {Excuse::kInterpolatedInteger, is_interpolated_integer},
      {Excuse::kIntegerOverflow, overflows},
      {Excuse::kUnsorted, is_in_another_order},
      {Excuse::kQuantisedInParts, is_quantised_in_parts},
  };
  for (const Open& o : kOpen)
    if (excuses.allows(o.excuse) && o.applies(suspect, trial, stored, out)) return o.excuse;
  return {};
}

}  // namespace assay
