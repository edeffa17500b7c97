#include "arbiter/choices.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arbiter/unrounded.h"
#include "graph/read.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Which numbers the node looks for. Empty: it does not give their places in order.
struct Choosing {
  bool any = false;
  int sign = 1;  ///< -1: for the smallest
  int64_t axis = 0;
};

Choosing choosing(const SuspectNode& suspect) {
  const Node& n = suspect.node;
  if (is_op(n, "ArgMax") || is_op(n, "ArgMin"))
    return {.any = true, .sign = is_op(n, "ArgMax") ? 1 : -1, .axis = int_attribute(n, "axis", 0)};
  if (!is_op(n, "TopK") || n.output(1) != &suspect.output || int_attribute(n, "sorted", 1) == 0) return {};
  return {.any = true,
          .sign = int_attribute(n, "largest", 1) != 0 ? 1 : -1,
          .axis = int_attribute(n, "axis", -1)};
}

/// The numbers of one row, as large and as small as they may have been.
struct Row {
  std::vector<double> low, high;
};

/// The first of the places at which no such numbers have this order; -1 where some have.
int64_t first_impossible(const Row& row, const std::vector<double>& places) {
  const auto count = static_cast<double>(row.low.size());
  std::vector<bool> chosen(row.low.size());
  double lowest = HUGE_VAL;  // the most that the last one may have been
  for (size_t k = 0; k < places.size(); ++k) {
    if (!(places[k] >= 0 && places[k] < count)) return static_cast<int64_t>(k);
    const auto i = static_cast<size_t>(places[k]);
    if (chosen[i] || row.low[i] > lowest) return static_cast<int64_t>(k);
    chosen[i] = true;
    lowest = std::min(lowest, row.high[i]);
  }
  for (size_t i = 0; i < row.low.size(); ++i) {
    if (chosen[i] || row.low[i] <= lowest) continue;
    const auto smaller =
        std::ranges::find_if(places, [&](double p) { return row.high[static_cast<size_t>(p)] < row.low[i]; });
    return smaller - places.begin();
  }
  return -1;
}

}  // namespace

bool judge_choices(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out) {
  const Choosing c = choosing(suspect);
  if (!c.any || !trial.usable() || !is_integer(stored.dtype()) || suspect.node.input(0) == nullptr)
    return false;
  const HalfUnit half(suspect, suspect.node.input(0), true);
  const Tensor x = convert(trial.inputs()[0], DType::kFloat64);
  const auto rank = static_cast<int64_t>(x.shape().size());
  const int64_t axis = c.axis < 0 ? c.axis + rank : c.axis;
  if (!half.any() || axis < 0 || axis >= rank || x.numel() == 0) return false;
  const auto at = static_cast<size_t>(axis);
  const int64_t extent = x.dim(at), inner = x.shape().numel(at + 1, x.shape().size()),
                rows = x.numel() / extent, each = stored.numel() / rows;
  if (each * rows != stored.numel()) return false;
  const Tensor result = convert(stored.load(), DType::kFloat64);
  const double *numbers = x.data<double>(), *found = result.data<double>();
  int64_t beyond = 0, first = -1;
  for (int64_t r = rows; r-- > 0;) {
    const int64_t outer = r / inner, k = r % inner;
    Row row;
    for (int64_t i = 0; i < extent; ++i) {
      const double v = numbers[(outer * extent + i) * inner + k], d = half(v);
      if (std::isnan(v)) return false;
      row.low.push_back(std::isinf(v) ? c.sign * v : c.sign * v - d);
      row.high.push_back(std::isinf(v) ? c.sign * v : c.sign * v + d);
    }
    std::vector<double> places;
    for (int64_t i = 0; i < each; ++i) places.push_back(found[(outer * each + i) * inner + k]);
    const int64_t wrong = first_impossible(row, places);
    if (wrong < 0) continue;
    ++beyond;
    first = (outer * each + wrong) * inner + k;
  }
  out.beyond = beyond;
  out.certain = beyond > 0;
  if (beyond == 0) {
    if (out.verdict != Verdict::kWrong) return true;
    out.verdict = Verdict::kRounding;
    out.problem.clear();
    out.note = "the numbers are in this order for some that are rounded to the stored ones";
    excused_by(Excuse::kChoices, out);
    return true;
  }
  out.verdict = Verdict::kWrong;
  out.worst_at = first;
  out.worst_result = found[first];
  out.note = "no numbers that are rounded to the stored ones are in this order";
  return true;
}

}  // namespace assay
