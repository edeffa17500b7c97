#include "graph/read.h"

#include <algorithm>

namespace assay {

bool is_op(const Node& n, std::string_view op_type) {
  return n.op_type == op_type && (n.domain.empty() || n.domain == "ai.onnx");
}

bool has_subgraph(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(), [](const Attribute& a) {
    return a.get_if<std::shared_ptr<Graph>>() != nullptr || a.get_if<Attribute::Graphs>() != nullptr;
  });
}

std::vector<const Graph*> subgraphs_of(const Node& n) {
  std::vector<const Graph*> graphs;
  for (const Attribute& a : n.attributes)
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) graphs.push_back(g->get());
  return graphs;
}

const Graph* graph_attribute(const Node& n, std::string_view name) {
  const Attribute* a = n.find_attribute(name);
  const auto* g = a != nullptr ? a->get_if<std::shared_ptr<Graph>>() : nullptr;
  return g != nullptr ? g->get() : nullptr;
}

const UnalignedTensor* constant_of(const Value* v) {
  return v != nullptr && v->tensor().defined() ? &v->tensor() : nullptr;
}

std::optional<Shape> shape_of(const Value* v) {
  if (v == nullptr || !v->type.has_shape()) return std::nullopt;
  std::optional<Shape> shape = known_shape(*v->type.dims);
  int64_t elements = 1;
  if (shape)
    for (const int64_t extent : *shape)
      if (__builtin_mul_overflow(elements, extent, &elements)) return std::nullopt;
  return shape;
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

}  // namespace assay
