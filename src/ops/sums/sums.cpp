#include "ops/sums/sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "ops/eval_util.h"

namespace assay {
namespace {

struct Line {
  std::string_view domain, name;
  SumsOf function;
  std::string_view reason;  ///< where there is none
};

constexpr Line kLines[] = {
#define SUMS(domain, name, function) {domain, name, function, {}},
#define NO_SUMS(domain, name, reason) {domain, name, nullptr, reason},
#include "ops/sums/sums.def"
#undef SUMS
#undef NO_SUMS
};

const Line* line_of(const OpDef& op) {
  const auto* line =
      std::ranges::find_if(kLines, [&](const Line& l) { return l.domain == op.domain && l.name == op.name; });
  return line == std::end(kLines) ? nullptr : line;
}

}  // namespace

SumsOf sums_of(const OpDef& op) {
  const Line* line = line_of(op);
  return line == nullptr ? nullptr : line->function;
}

std::string_view why_without_sums(const OpDef& op) {
  const Line* line = line_of(op);
  return line == nullptr ? std::string_view() : line->reason;
}

namespace {

/// value(element, its sums as `measure` has them) for each element of an output, 0 where it has no sums.
/// Undefined where more than `addends_left` would have to be measured.
template <typename Measure, typename F>
Tensor by_sums(EvalContext& c, SumsOf sums, size_t output, const Shape& shape, int64_t& addends_left,
               Measure measure, F value) {
  Tensor found = Tensor::zeros(DType::kFloat64, shape);
  auto* to = found.mutable_data<double>();
  std::unordered_map<int64_t, MeasuredSums> rows;
  std::shared_ptr<const void> kept;
  for (int64_t i = 0; i < found.numel(); ++i) {
    SummedElement element;
    element.known = &rows, element.kept = &kept, element.output = output;
    if (!sums(c, i, element)) continue;
    MeasuredSums own;
    const MeasuredSums* measured = element.known_row();
    if (measured == nullptr) {
      for (const Addends& a : element.sums) addends_left -= static_cast<int64_t>(a.terms.size());
      if (addends_left < 0) return {};
      own = measure(element.sums);
      measured = &own;
    }
    const double v = value(element, *measured);
    to[i] = std::isfinite(v) ? v : 0;
    if (measured == &own && element.row >= 0) rows.emplace(element.row, std::move(own));
  }
  return found;
}

/// `explained`: how far the sum in this order is from the exact one, with its sign.
MeasuredSums in_order(std::span<const Addends> sums, SumOrder order) {
  MeasuredSums found;
  for (const Addends& a : sums) {
    const double exact = std::accumulate(a.terms.begin(), a.terms.end(), 0.0) + a.bias;
    found.exact.push_back(exact);
    found.explained.push_back(sum_in_order(a, order) - exact);
  }
  return found;
}

double moved_by(const SummedElement& element, const MeasuredSums& measured) {
  std::vector<double> moved = measured.exact;
  for (size_t k = 0; k < moved.size(); ++k) moved[k] += measured.explained[k];
  return element.result(moved) - element.result(measured.exact);
}

}  // namespace

Tensor with_sums_in_order(EvalContext& c, SumsOf sums, size_t output, const Tensor& y, SumOrder order,
                          int64_t& addends_left) {
  const Tensor moved = by_sums(
      c, sums, output, y.shape(), addends_left,
      [=](std::span<const Addends> addends) { return in_order(addends, order); }, moved_by);
  return moved.defined() ? map_broadcast<double>(y, moved, std::plus<>()) : y;
}

Tensor room_of_sums(EvalContext& c, SumsOf sums, size_t output, const Shape& shape, int64_t& addends_left) {
  return by_sums(c, sums, output, shape, addends_left, measure, explained_by_sums);
}

}  // namespace assay
