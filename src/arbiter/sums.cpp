#include "arbiter/sums.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/sums/sums.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Elements that are looked at before it is asked whether they are explained.
constexpr size_t kTogether = 64;
/// Addends that may be added up, seven times each: some seconds.
constexpr int64_t kMaxAddends = int64_t{1} << 27;

/// The elements beyond what is explained, the worst first.
std::vector<int64_t> elements_beyond(const Tensor& result, const Tensor& exact, const Explained& explained) {
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = explained.most.data<double>();
  std::vector<std::pair<double, int64_t>> found;
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (const double error = std::abs(r[i] - y[i]); error > e[i] && std::isfinite(error))
      found.emplace_back(e[i] > 0 ? -error / e[i] : -HUGE_VAL, i);
  std::ranges::sort(found);
  std::vector<int64_t> places;
  for (const auto& [ratio, i] : found) places.push_back(i);
  return places;
}

/// What DequantizeLinear, with one scale for all, took off the numbers of an input for their zero point.
double taken_off(const SuspectNode& suspect, size_t input) {
  const Value* v = suspect.node.input(input);
  const Node* from = v == nullptr ? nullptr : v->producer();
  if (from == nullptr || !is_op(*from, "DequantizeLinear") || from->input(2) == nullptr) return 0;
  const Tensor scale = suspect.own(*from->input(1)), zero = suspect.own(*from->input(2));
  if (!scale.defined() || !zero.defined() || scale.numel() != 1 || zero.numel() != 1) return 0;
  return to_float64(scale).data<double>()[0] * convert(zero, DType::kFloat64).data<double>()[0];
}

bool is_dequantised(const SuspectNode& suspect, size_t input) {
  const Value* v = suspect.node.input(input);
  const Node* from = v == nullptr ? nullptr : v->producer();
  return from != nullptr && is_op(*from, "DequantizeLinear");
}

/// Whether backends can add up integers: all factors of the addends were quantised. With one of floats, they
/// add up products of integers and floats.
bool adds_integers(const Trial& trial, const SuspectNode& suspect) {
  const std::vector<Tensor>& inputs = trial.inputs();
  constexpr size_t kFactors = 2;  // what follows is a bias
  for (size_t i = 0; i < std::min(inputs.size(), kFactors); ++i)
    if (inputs[i].defined() && inputs[i].dtype() == DType::kFloat64 && !is_dequantised(suspect, i))
      return false;
  return true;
}

/// Inputs with the zero points still in them, and for each such input with these alone: together the node's
/// sums. None where nothing was taken off, or the result is not in proportion to its sums.
std::vector<EvalContext> parts_of_dequantised(const Trial& trial, const SuspectNode& suspect) {
  const Numerics& numerics = trial.op().numerics;
  if (numerics.kind != Numerics::Kind::kAccumulating || numerics.magnitude != nullptr) return {};
  std::vector<Tensor> whole = trial.inputs();
  std::vector<std::pair<size_t, double>> offsets;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!whole[i].defined() || whole[i].dtype() != DType::kFloat64) continue;
    const double offset = taken_off(suspect, i);
    if (offset == 0) continue;
    whole[i] = map_elements<double>(whole[i], [=](double x) { return x + offset; });
    offsets.emplace_back(i, offset);
  }
  if (offsets.empty()) return {};
  std::vector<EvalContext> parts;
  parts.push_back(trial.context(whole));
  for (const auto& [i, offset] : offsets) {
    std::vector<Tensor> alone = whole;
    alone[i] = map_elements<double>(whole[i], [=](double) { return offset; });
    parts.push_back(trial.context(std::move(alone)));
  }
  return parts;
}

/// The sums of one result, element by element.
class SumsOfResult {
 public:
  SumsOfResult(const Trial& trial, const SuspectNode& suspect, SumsOf sums)
      : sums_(sums),
        output_(trial.output()),
        own_(trial.context()),
        parts_(parts_of_dequantised(trial, suspect)),
        adds_integers_(adds_integers(trial, suspect)) {}

  int64_t added() const { return added_; }
  /// How far float32 may be from the exact element; nothing where it has no sums.
  std::optional<double> explained(int64_t i) {
    SummedElement element;
    element.known = &rows_;
    element.kept = &kept_;
    element.output = output_;
    if (!sums_(own_, i, element)) return {};
    if (const MeasuredSums* known = element.known_row()) return explained_by_sums(element, *known);
    MeasuredSums own = measured(element);
    const double room = explained_by_sums(element, own);
    if (element.row >= 0) rows_.emplace(element.row, std::move(own));
    return room;
  }
  /// The same where zero points were taken off afterwards; 0 where there are none.
  double explained_in_parts(int64_t i) {
    double room = 0;
    for (EvalContext& part : parts_) {
      SummedElement element;
      element.output = output_;
      if (!sums_(part, i, element)) return 0;
      room += explained_by_sums(element, adds_integers_ ? measure_integers(element.sums) : measured(element));
    }
    return room;
  }

 private:
  MeasuredSums measured(const SummedElement& element) {
    for (const Addends& a : element.sums) added_ += static_cast<int64_t>(a.terms.size());
    return measure(element.sums);
  }

  SumsOf sums_;
  size_t output_;
  EvalContext own_;
  std::vector<EvalContext> parts_;
  bool adds_integers_;
  std::unordered_map<int64_t, MeasuredSums> rows_;
  std::shared_ptr<const void> kept_;
  int64_t added_ = 0;
};

}  // namespace

bool widen_for_sums(const Trial& trial, const SuspectNode& suspect, const Tensor& result, const Tensor& exact,
                    Explained& explained) {
  const SumsOf function = sums_of(trial.op());
  if (function == nullptr) return false;
  SumsOfResult sums(trial, suspect, function);
  const double *r = result.data<double>(), *y = exact.data<double>();
  auto* most = explained.most.mutable_data<double>();
  auto* possible = explained.possible.defined() ? explained.possible.mutable_data<double>() : nullptr;
  bool any = false, beyond = false;
  size_t count = 0;
  for (const int64_t i : elements_beyond(result, exact, explained)) {
    if (count++ % kTogether == 0 && (beyond || sums.added() > kMaxAddends)) return any;
    const std::optional<double> own = sums.explained(i);
    if (!own) return any;
    // What else is rounded is expected to be of its usual size.
    const double usual = most[i] / kOwnFactor, error = std::abs(r[i] - y[i]);
    double room = *own + usual;
    if (error > room) room = std::max(room, sums.explained_in_parts(i) + usual);
    beyond = beyond || error > room;
    if (!(room > most[i])) continue;
    any = true;
    most[i] = room;
    if (possible != nullptr) possible[i] = std::max(possible[i], room);
  }
  return any;
}

bool widen_for_sums_of_steps(const Trial& trial, const Tensor& exact, Explained& explained) {
  const auto perturb = trial.op().numerics.perturb;
  if (perturb == nullptr || exact.dtype() != DType::kFloat64) return false;
  bool any = false;
  const Tensor before = map_elements<double>(explained.most, [](double e) { return e; });
  for (const SumOrder order : kSumOrders) {
    const Tensor y = trial.perturbed(key_of(order));
    if (!y.defined() || y.shape() != exact.shape() || y.dtype() != DType::kFloat64) return false;
    const double *p = y.data<double>(), *e = exact.data<double>();
    auto* most = explained.most.mutable_data<double>();
    for (int64_t i = 0; i < exact.numel(); ++i) {
      const double room = kOrdersFactor * std::abs(p[i] - e[i]);
      if (!std::isfinite(room) || room <= 0) continue;
      any = true;
      most[i] = std::max(most[i], room + before.data<double>()[i] / kOwnFactor);
    }
  }
  return any;
}

}  // namespace assay
