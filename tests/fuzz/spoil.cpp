#include "fuzz/spoil.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

/// Extents of the case's inputs, which bound its indices.
std::vector<int64_t> extents_of(const Case& c) {
  std::vector<int64_t> extents = {1, 2};
  const auto add = [&](const Tensor& t) {
    if (!t.defined() || t.is_container()) return;
    extents.push_back(t.rank());
    for (const int64_t d : t.shape()) extents.push_back(d);
  };
  for (const Tensor& t : c.feed) add(t);
  for (const Value* v : c.model->graph->nodes()[0]->inputs())
    if (v != nullptr && v->is_constant()) add(v->tensor().aligned());
  return extents;
}

int64_t wrong_integer(const std::vector<int64_t>& extents, Random& r) {
  const int64_t e = r.one_of(extents);
  return r.one_of({int64_t{-1}, int64_t{0}, -e, -e - 1, e, e + 1, e - 1, 2 * e, int64_t{-2}, int64_t{100},
                   std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                   int64_t{std::numeric_limits<int32_t>::min()}, int64_t{std::numeric_limits<int32_t>::max()},
                   int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 40});
}

double wrong_number(Random& r) {
  return r.one_of({std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(), 1e30, -1e30, -1.0, 0.0, -0.5, 2.5, 1e-40});
}

/// One element of the tensor changed.
Tensor with_wrong_element(const Tensor& t, const std::vector<int64_t>& extents, Random& r) {
  const size_t at = r.below(static_cast<size_t>(t.numel()));
  const DType dtype = t.dtype();
  if (dtype == DType::kBool) {
    Tensor out = Tensor::from<bool>(t.shape(), t.span<bool>());
    out.mutable_data<bool>()[at] = !out.data<bool>()[at];
    return out;
  }
  if (is_float(dtype)) {
    Tensor wide = convert(t, DType::kFloat64);
    wide.mutable_data<double>()[at] = wrong_number(r);
    return convert(wide, dtype);
  }
  Tensor wide = convert(t, DType::kInt64);
  wide.mutable_data<int64_t>()[at] = wrong_integer(extents, r);
  return convert(wide, dtype);
}

/// The same elements and some more, or fewer, in another shape.
Tensor with_wrong_shape(const Tensor& t, Random& r) {
  Shape shape = t.shape();
  if (shape.empty() || r.chance(20))
    shape.insert_at(r.below(shape.size() + 1), 1);
  else if (shape.size() > 1 && r.chance(15))
    shape.erase_at(r.below(shape.size()));
  else
    shape[r.below(shape.size())] += r.one_of({-1, 1, 1, 2});
  for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
  if (t.dtype() == DType::kString || is_complex(t.dtype()) || is_packed(t.dtype()))
    return Tensor::zeros(t.dtype(), shape);
  const Tensor wide = convert(t, DType::kFloat64);
  Tensor out = Tensor::zeros(DType::kFloat64, shape);
  for (int64_t i = 0; i < out.numel() && wide.numel() > 0; ++i)
    out.mutable_data<double>()[i] = wide.data<double>()[i % wide.numel()];
  return convert(out, t.dtype());
}

bool has_numbers(const Tensor& t) {
  return t.defined() && !t.is_container() && t.numel() > 0 && t.dtype() != DType::kString &&
         !is_complex(t.dtype()) && !is_packed(t.dtype());
}

std::string spoil_input(Case& c, Random& r) {
  Node& n = *c.model->graph->nodes()[0];
  const std::vector<int64_t> extents = extents_of(c);
  std::vector<std::pair<Value*, Tensor>> all, small;
  auto& fed = c.model->graph->inputs;
  for (Value* v : n.inputs()) {
    if (v == nullptr) continue;
    const auto place = std::find(fed.begin(), fed.end(), v);
    const Tensor t =
        place != fed.end() ? c.feed[static_cast<size_t>(place - fed.begin())] : v->tensor().aligned();
    if (!t.defined() || t.is_container()) continue;
    all.emplace_back(v, t);
    // Integers, and lists of a few numbers: what is no data.
    if (has_numbers(t) && (!is_float(t.dtype()) || t.numel() <= 8)) small.emplace_back(v, t);
  }
  if (all.empty()) return {};
  const bool element = !small.empty() && r.chance(75);
  const auto& [v, t] = r.one_of(element ? small : all);
  const Tensor wrong = element ? with_wrong_element(t, extents, r) : with_wrong_shape(t, r);
  if (const auto place = std::find(fed.begin(), fed.end(), v); place != fed.end()) {
    c.feed[static_cast<size_t>(place - fed.begin())] = wrong;
    const bool has_dims = v->type.has_shape();
    v->type = type_of(wrong);
    if (!has_dims) v->type.dims.reset();
  } else {
    v->set_tensor(wrong);
  }
  return element ? "an element" : "a shape";
}

std::string spoil_attribute(Case& c, Random& r) {
  Node& n = *c.model->graph->nodes()[0];
  if (n.attributes.empty()) return {};
  const std::vector<int64_t> extents = extents_of(c);
  Attribute& a = n.attributes[r.below(n.attributes.size())];
  if (auto* x = std::get_if<int64_t>(&a.data)) {
    *x = wrong_integer(extents, r);
  } else if (auto* f = std::get_if<float>(&a.data)) {
    *f = static_cast<float>(wrong_number(r));
  } else if (auto* s = std::get_if<std::string>(&a.data)) {
    *s = r.one_of({"", "none", "other", "LINEAR", "Constant"});
  } else if (auto* list = std::get_if<std::vector<int64_t>>(&a.data)) {
    if (list->empty() || r.chance(20))
      list->push_back(wrong_integer(extents, r));
    else if (r.chance(25))
      list->pop_back();
    else
      (*list)[r.below(list->size())] = wrong_integer(extents, r);
  } else if (auto* numbers = std::get_if<std::vector<float>>(&a.data)) {
    if (numbers->empty() || r.chance(20))
      numbers->push_back(1);
    else if (r.chance(40))
      numbers->pop_back();
    else
      (*numbers)[r.below(numbers->size())] = static_cast<float>(wrong_number(r));
  } else {
    return {};
  }
  return "attribute " + a.name;
}

}  // namespace

std::string spoil(Case& c, Random& r) {
  std::string what = r.chance(65) ? spoil_input(c, r) : spoil_attribute(c, r);
  if (what.empty()) what = spoil_input(c, r);
  return what;
}

}  // namespace assay::fuzz
