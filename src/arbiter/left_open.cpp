#include "arbiter/left_open.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "arbiter/judge.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "ops/numerics/noise.h"
#include "reference/evaluate.h"
#include "tensor/float_range.h"

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

/// What TopK found along its axis, as values or as places of these, and what it was to find.
struct FoundByTopK {
  Tensor x, exact, result;
  Tensor
      beside;  ///< of places: the values that the runner gave with them; undefined where they are not known
  bool are_places = false;
  size_t axis = 0;

  FoundByTopK(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored)
      : x(convert(trial.inputs()[0], DType::kFloat64)),
        exact(convert(trial.evaluate(trial.inputs()), DType::kFloat64)),
        result(convert(stored.load(), DType::kFloat64)),
        are_places(suspect.node.output(1) == &suspect.output) {
    const auto rank = static_cast<int64_t>(x.shape().size());
    const int64_t given = int_attribute(suspect.node, "axis", -1);
    axis = static_cast<size_t>(given < 0 ? given + rank : given);
    const Value* values = are_places ? suspect.node.output(0) : nullptr;
    const Tensor own = values != nullptr ? suspect.own(*values) : Tensor();
    if (own.defined() && own.shape() == result.shape()) beside = convert(own, DType::kFloat64);
  }
  int64_t count() const { return exact.dim(axis); }
  int64_t rows() const { return count() == 0 ? 0 : exact.numel() / count(); }
  double at(const Tensor& t, int64_t row, int64_t i) const {
    const int64_t inner = x.shape().numel(axis + 1, x.shape().size());
    return t.data<double>()[(row / inner * t.dim(axis) + i) * inner + row % inner];
  }
  /// The number that element i of the row stands for; nothing where there is none, or the runner gave
  /// another.
  std::optional<double> number(int64_t row, int64_t i) const {
    const double r = at(result, row, i);
    if (!are_places) return r;
    if (!(r >= 0 && r < static_cast<double>(x.dim(axis)))) return {};
    const double value = at(x, row, static_cast<int64_t>(r));
    if (beside.defined() && value != at(beside, row, i)) return {};
    return value;
  }
  double wanted(int64_t row, int64_t i) const {
    const double y = at(exact, row, i);
    return are_places ? at(x, row, static_cast<int64_t>(y)) : y;
  }
  /// Whether the row has the right elements, each once.
  bool has_all(int64_t row) const {
    std::vector<double> found, right, places;
    for (int64_t i = 0; i < count(); ++i) {
      const std::optional<double> own = number(row, i);
      if (!own) return false;
      found.push_back(*own);
      right.push_back(wanted(row, i));
      if (are_places) places.push_back(at(result, row, i));
    }
    for (std::vector<double>* list : {&found, &right, &places}) std::ranges::sort(*list);
    return found == right && std::ranges::adjacent_find(places) == places.end();
  }
};

/// Without sorted=1 the order of what TopK found is the backend's: the same elements in any order are right.
bool is_in_another_order(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                         ArbiterVerdict& out) {
  const Node& n = suspect.node;
  if (!is_op(n, "TopK") || int_attribute(n, "sorted", 1) != 0 || n.outputs().size() != 2) return false;
  const FoundByTopK found(suspect, trial, stored);
  if (found.exact.shape() != found.result.shape() || found.x.shape().empty()) return false;
  for (int64_t row = 0; row < found.rows(); ++row)
    if (!found.has_all(row)) return false;
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

namespace {

/// Elements of a cast to whole numbers that some evaluation gives a number beyond the type.
class OpenElements {
 public:
  /// None where a lane is no such cast.
  static std::optional<OpenElements> of(std::span<const Tensor> given, const Tensor& exact) {
    const IntegerRange range(exact.dtype());
    OpenElements found(exact);
    for (const Tensor& lane : given) {
      if (!is_float(lane.dtype()) || lane.shape() != exact.shape()) return {};
      const Tensor wide = to_float64(lane);
      for (size_t i = 0; i < found.open_.size(); ++i)
        if (!range.holds(std::trunc(wide.data<double>()[i]))) found.open_[i] = true;
    }
    return found;
  }
  int64_t count() const { return std::ranges::count(open_, true); }
  /// The tensor with the exact values in these places.
  Tensor closed(const Tensor& t) const {
    if (t.dtype() != exact_.dtype() || t.shape() != exact_.shape()) return t;
    const size_t size = bit_width(exact_.dtype()) / 8;
    Tensor copy = Tensor::allocate(t.dtype(), t.shape());
    for (size_t i = 0; i < open_.size(); ++i)
      std::memcpy(static_cast<char*>(copy.mutable_data()) + i * size,
                  static_cast<const char*>((open_[i] ? exact_ : t).data()) + i * size, size);
    return copy;
  }

 private:
  explicit OpenElements(const Tensor& exact) : exact_(exact), open_(static_cast<size_t>(exact.numel())) {}
  Tensor exact_;
  std::vector<bool> open_;
};

}  // namespace

bool is_open_cast(std::span<const Tensor> given, const StoredTensor& stored, const Standard& standard,
                  ArbiterVerdict& out) {
  const Tensor& exact = standard.lanes[0];
  if (!is_integer(stored.dtype()) || is_packed(stored.dtype()) || stored.dtype() != exact.dtype() ||
      stored.shape() != exact.shape())
    return false;
  const std::optional<OpenElements> open = OpenElements::of(given, exact);
  if (!open || open->count() == 0) return false;
  std::vector<Tensor> lanes;
  for (const Tensor& lane : standard.lanes) lanes.push_back(open->closed(lane));
  Standard rest = standard;
  rest.lanes = lanes;
  ArbiterVerdict judged;
  judge_result(StoredTensor(open->closed(stored.load())), rest, judged);
  if (judged.verdict != Verdict::kAgrees && judged.verdict != Verdict::kRounding) return false;
  out.verdict = Verdict::kOpen;
  out.note = fmt::format("{} element(s) may be casts of numbers that {} cannot hold", open->count(),
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
