#include "arbiter/shares.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

double sum_of_squares(const Tensor& t) {
  double sum = 0;
  for (const double x : t.span<double>()) sum += std::isfinite(x) ? x * x : 0;
  return sum;
}

double squared_distance(const Tensor& a, const Tensor& b) {
  double sum = 0;
  const double *x = a.data<double>(), *y = b.data<double>();
  for (int64_t i = 0; i < a.numel(); ++i)
    if (const double d = x[i] - y[i]; std::isfinite(d)) sum += d * d;
  return sum;
}

bool is_comparable(const Tensor& a, const Tensor& b) {
  return b.defined() && b.dtype() == DType::kFloat64 && a.shape() == b.shape();
}

/// Whether errors of its inputs stay what they are.
bool keeps_errors(const std::string& op) {
  return op == "Add" || op == "Sub" || op == "Sum" || op == "Concat";
}

}  // namespace

void ErrorShares::add(const ArbiterVerdict& v, const Tensor& own, const Tensor& computed, const Tensor& exact,
                      const std::vector<std::string>& sources) {
  if (own.dtype() != DType::kFloat64 || !is_comparable(own, computed) || !is_comparable(own, exact)) return;
  Entry e{.of = {.runner = v.runner,
                 .node = v.node,
                 .op_type = v.op_type,
                 .output = v.output,
                 .computed_in = v.computed_in},
          .added = squared_distance(own, computed),
          .inherited = squared_distance(computed, exact),
          .total = squared_distance(own, exact),
          .size = sum_of_squares(exact),
          .sources = sources};
  if (e.size > 0) e.of.own_error = std::sqrt(e.added / e.size);
  by_name_[v.output] = entries_.size();
  entries_.push_back(std::move(e));
}

/// Each of what an error came with, by its size in proportion to the others; empty where none is known.
std::map<size_t, double> ErrorShares::sources_of(size_t i) const {
  const Entry& e = entries_[i];
  std::map<size_t, double> parts;
  double all = 0;
  for (const std::string& name : e.sources) {
    const auto it = by_name_.find(name);
    if (it == by_name_.end() || it->second >= i) continue;
    const Entry& source = entries_[it->second];
    const double size = keeps_errors(e.of.op_type) ? 1 : source.size;
    if (size > 0 && source.total > 0) parts[it->second] = source.total / size;
  }
  for (const auto& [source, part] : parts) all += part;
  for (auto& [source, part] : parts) part /= all;
  return parts;
}

std::vector<ErrorShare> ErrorShares::shares() const {
  std::vector<double> blame(entries_.size(), 0.0);
  std::set<std::string> used;
  for (const Entry& e : entries_) used.insert(e.sources.begin(), e.sources.end());
  double last = 0;
  for (size_t i = 0; i < entries_.size(); ++i)
    if (!used.contains(entries_[i].of.output) && entries_[i].total > 0) blame[i] = 1, ++last;
  std::vector<ErrorShare> found;
  for (size_t i = entries_.size(); i-- > 0;) {
    if (blame[i] == 0) continue;
    const Entry& e = entries_[i];
    const std::map<size_t, double> sources = sources_of(i);
    const double both = e.added + e.inherited, own = !sources.empty() && both > 0 ? e.added / both : 1;
    for (const auto& [source, part] : sources) blame[source] += blame[i] * (1 - own) * part;
    found.push_back(e.of);
    found.back().share = blame[i] * own / last;
  }
  std::erase_if(found, [](const ErrorShare& s) { return s.share == 0; });
  std::ranges::stable_sort(found, std::greater<>(), &ErrorShare::share);
  return found;
}

}  // namespace assay
