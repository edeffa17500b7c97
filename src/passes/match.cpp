#include "passes/match.h"

#include <cmath>

#include "tensor/convert.h"

namespace assay {

bool is_op(const Node& n, std::string_view op_type) {
  return n.op_type == op_type && (n.domain.empty() || n.domain == "ai.onnx");
}

const Node* producer_of(const Value* v, std::string_view op_type) {
  if (v == nullptr || v->producer() == nullptr || !is_op(*v->producer(), op_type)) return nullptr;
  return &v->producer()->graph() == &v->graph() ? v->producer() : nullptr;
}

const Tensor* constant_of(const Value* v) {
  return v != nullptr && v->tensor().defined() ? &v->tensor() : nullptr;
}

bool is_fixed(const Value* v, int64_t ir_version) {
  return constant_of(v) != nullptr && !(v->is_overridable && ir_version >= 4);
}

std::optional<double> scalar_of(const Value* v) {
  const Tensor* t = constant_of(v);
  if (t == nullptr || t->numel() != 1 || !(is_float(t->dtype()) || is_integer(t->dtype())))
    return std::nullopt;
  return to_float64(*t).data<double>()[0];
}

bool is_scalar(const Value* v, double number) {
  const std::optional<double> x = scalar_of(v);
  return x && std::abs(*x - number) <= 1e-5 * std::abs(number);
}

std::optional<std::vector<int64_t>> integers_of(const Value* v) {
  const Tensor* t = constant_of(v);
  if (t == nullptr || t->rank() > 1 || !is_integer(t->dtype())) return std::nullopt;
  return t->to_int64();
}

std::optional<Shape> shape_of(const Value* v) {
  return v != nullptr && v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt;
}

int rank_of(const Value* v) {
  return v != nullptr && v->type.has_shape() ? static_cast<int>(v->type.dims->size()) : -1;
}

DType dtype_of(const Value* v) {
  return v != nullptr && v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
}

int64_t int_attribute(const Node& n, std::string_view name, int64_t fallback) {
  const Attribute* a = n.find_attribute(name);
  const int64_t* x = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return x != nullptr ? *x : fallback;
}

double float_attribute(const Node& n, std::string_view name, double fallback) {
  const Attribute* a = n.find_attribute(name);
  const float* x = a != nullptr ? a->get_if<float>() : nullptr;
  return x != nullptr ? *x : fallback;
}

std::string_view string_attribute(const Node& n, std::string_view name, std::string_view fallback) {
  const Attribute* a = n.find_attribute(name);
  const std::string* x = a != nullptr ? a->get_if<std::string>() : nullptr;
  return x != nullptr ? std::string_view(*x) : fallback;
}

std::vector<int64_t> ints_attribute(const Node& n, std::string_view name) {
  const Attribute* a = n.find_attribute(name);
  const auto* x = a != nullptr ? a->get_if<std::vector<int64_t>>() : nullptr;
  return x != nullptr ? *x : std::vector<int64_t>{};
}

std::optional<std::vector<int64_t>> ints_parameter(const Node& n, std::string_view attribute, size_t input) {
  if (n.find_attribute(attribute) != nullptr) return ints_attribute(n, attribute);
  if (n.input(input) == nullptr) return std::vector<int64_t>{};
  return integers_of(n.input(input));
}

Value* other_input(const Node& n, const Value* v) {
  if (n.inputs().size() != 2) return nullptr;
  if (n.input(0) == v) return n.input(1);
  return n.input(1) == v ? n.input(0) : nullptr;
}

}  // namespace assay
