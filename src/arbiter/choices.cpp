#include "arbiter/choices.h"

#include <algorithm>
#include <cmath>
#include <optional>
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

/// Rows of numbers along the axis that the node chooses along, and the places that it gave.
struct Choices {
  Tensor numbers, found;
  HalfUnit half;
  int sign;
  int64_t extent = 0, inner = 1, rows = 0, each = 0;  ///< extent 0: they do not belong together

  Choices(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored, const Choosing& c)
      : numbers(convert(trial.inputs()[0], DType::kFloat64)),
        half(suspect, suspect.node.input(0), true),
        sign(c.sign) {
    const Shape& x = numbers.shape();
    const auto rank = static_cast<int64_t>(x.size());
    const int64_t axis = c.axis < 0 ? c.axis + rank : c.axis;
    if (!half.any() || axis < 0 || axis >= rank || x.numel() == 0) return;
    const auto at = static_cast<size_t>(axis);
    inner = x.numel(at + 1, x.size());
    rows = x.numel() / x[at];
    each = stored.numel() / rows;
    if (each * rows != stored.numel()) return;
    extent = x[at];
    found = convert(stored.load(), DType::kFloat64);
  }
  int64_t place(int64_t row, int64_t i, int64_t of) const {
    return (row / inner * of + i) * inner + row % inner;
  }
  /// None where one is no number.
  std::optional<Row> row(int64_t r) const {
    Row row;
    for (int64_t i = 0; i < extent; ++i) {
      const double v = numbers.data<double>()[place(r, i, extent)], d = std::isinf(v) ? 0 : half(v);
      if (std::isnan(v)) return {};
      row.low.push_back(sign * v - d);
      row.high.push_back(sign * v + d);
    }
    return row;
  }
  std::vector<double> places(int64_t r) const {
    std::vector<double> list;
    for (int64_t i = 0; i < each; ++i) list.push_back(found.data<double>()[place(r, i, each)]);
    return list;
  }
};

void set_in_order(ArbiterVerdict& out) {
  if (out.verdict != Verdict::kWrong) return;
  out.verdict = Verdict::kRounding;
  out.problem.clear();
  out.note = "the numbers are in this order for some that are rounded to the stored ones";
  excused_by(Excuse::kChoices, out);
}

}  // namespace

bool judge_choices(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out) {
  const Choosing c = choosing(suspect);
  if (!c.any || !trial.usable() || !is_integer(stored.dtype()) || suspect.node.input(0) == nullptr)
    return false;
  const Choices choices(suspect, trial, stored, c);
  if (choices.extent == 0) return false;
  int64_t beyond = 0, first = -1;
  for (int64_t r = choices.rows; r-- > 0;) {
    const std::optional<Row> row = choices.row(r);
    if (!row) return false;
    const int64_t wrong = first_impossible(*row, choices.places(r));
    if (wrong < 0) continue;
    ++beyond;
    first = choices.place(r, wrong, choices.each);
  }
  out.beyond = beyond;
  out.certain = beyond > 0;
  if (beyond == 0) {
    set_in_order(out);
    return true;
  }
  out.verdict = Verdict::kWrong;
  out.worst_at = first;
  out.worst_result = choices.found.data<double>()[first];
  out.note = "no numbers that are rounded to the stored ones are in this order";
  return true;
}

}  // namespace assay
