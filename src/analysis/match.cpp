#include "analysis/match.h"

#include <cmath>
#include <unordered_set>

#include "tensor/convert.h"

namespace assay {
namespace {

/// Relative tolerance for a number written with eight digits or rounded to float32.
constexpr double kOfFloat32 = 2.5e-7;

}  // namespace

const Node* producer_of(const Value* v, std::string_view op_type) {
  if (v == nullptr || v->producer() == nullptr || !is_op(*v->producer(), op_type)) return nullptr;
  return &v->producer()->graph() == &v->graph() ? v->producer() : nullptr;
}

bool is_fixed(const Value* v, int64_t ir_version) {
  return constant_of(v) != nullptr && !(v->is_overridable && ir_version >= 4);
}

std::optional<double> scalar_of(const Value* v) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || t->numel() != 1 || !(is_float(t->dtype()) || is_integer(t->dtype())))
    return std::nullopt;
  return to_float64(*t).data<double>()[0];
}

std::optional<double> scalar_beside(const Value* v, const Value* beside) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || beside == nullptr || (t->rank() > 0 && t->rank() > rank_of(beside)))
    return std::nullopt;
  return scalar_of(v);
}

bool is_scalar_beside(const Value* v, double number, const Value* beside) {
  const std::optional<double> x = scalar_beside(v, beside);
  if (!x) return false;
  const bool is_exact = static_cast<double>(static_cast<float>(number)) == number;
  return is_exact ? *x == number : std::abs(*x - number) <= kOfFloat32 * std::abs(number);
}

std::optional<std::vector<int64_t>> integers_of(const Value* v) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || t->rank() > 1 || !is_integer(t->dtype())) return std::nullopt;
  return t->to_int64();
}

std::optional<std::vector<int64_t>> ints_parameter(const Node& n, std::string_view attribute, size_t input) {
  if (n.find_attribute(attribute) != nullptr) return ints_attribute(n, attribute);
  if (n.input(input) == nullptr) return std::vector<int64_t>{};
  return integers_of(n.input(input));
}

std::vector<const Node*> in_order(const std::vector<const Node*>& nodes) {
  std::unordered_set<const Node*> waiting(nodes.begin(), nodes.end());
  std::vector<const Node*> order;
  const auto visit = [&](const auto& self, const Node* n) -> void {
    if (waiting.erase(n) == 0) return;
    for (const Value* v : n->inputs())
      if (v != nullptr && v->producer() != nullptr) self(self, v->producer());
    order.push_back(n);
  };
  for (const Node* n : nodes) visit(visit, n);
  return order;
}

Value* other_input(const Node& n, const Value* v) {
  if (n.inputs().size() != 2) return nullptr;
  if (n.input(0) == v) return n.input(1);
  return n.input(1) == v ? n.input(0) : nullptr;
}

const UnalignedTensor* data_of(const Value* v) {
  if (const UnalignedTensor* t = constant_of(v)) return t;
  const Node* n = producer_of(v, "Constant");
  const Attribute* value = n == nullptr ? nullptr : n->find_attribute("value");
  return value == nullptr ? nullptr : value->get_if<UnalignedTensor>();
}

}  // namespace assay
