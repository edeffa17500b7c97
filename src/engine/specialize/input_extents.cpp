#include "engine/specialize/input_extents.h"

#include <algorithm>
#include <unordered_map>

namespace assay::engine {
namespace {

/// True when each symbol stands for one number.
bool agree(std::span<const Dims> dims, std::span<const Shape* const> shapes) {
  std::unordered_map<std::string_view, int64_t> symbols;
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t d = 0; d < dims[i].size(); ++d)
      if (dims[i][d].is_symbol() &&
          symbols.emplace(dims[i][d].symbol(), (*shapes[i])[d]).first->second != (*shapes[i])[d])
        return false;
  return true;
}

std::vector<const Shape*> pointers_to(const std::vector<Shape>& shapes) {
  std::vector<const Shape*> pointers;
  for (const Shape& s : shapes) pointers.push_back(&s);
  return pointers;
}

}  // namespace

std::optional<InputExtents> InputExtents::of(const Graph& network, std::span<const std::vector<Shape>> seen) {
  InputExtents extents;
  std::vector<Dims> declared(network.inputs.size());
  bool any = false;
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    Dims& dims = extents.dims_.emplace_back();
    const Type& type = network.inputs[i]->type;
    if (!type.is_tensor()) continue;
    const Shape& first = seen[0][i];
    dims = to_dims(first);
    declared[i] = type.has_shape() ? *type.dims : Dims(first.size());
    if (declared[i].size() != first.size()) return std::nullopt;
    for (const std::vector<Shape>& shapes : seen) {
      if (shapes[i].size() != first.size()) return std::nullopt;
      for (size_t d = 0; d < first.size(); ++d) {
        if (shapes[i][d] == first[d]) continue;
        if (declared[i][d].is_known()) return std::nullopt;
        dims[d] = declared[i][d];
        any = true;
      }
    }
  }
  if (!any) return std::nullopt;
  for (const std::vector<Shape>& shapes : seen)
    if (!agree(declared, pointers_to(shapes))) return std::nullopt;
  return extents;
}

bool InputExtents::hold(std::span<const Shape* const> shapes) const {
  if (shapes.size() != dims_.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Dims& dims = dims_[i];
    // Containers have none, and their shapes are not looked at.
    if (shapes[i] == nullptr) continue;
    if (shapes[i]->size() != dims.size()) return false;
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d].is_known() ? dims[d].value() != (*shapes[i])[d] : (*shapes[i])[d] == 0) return false;
  }
  return agree(dims_, shapes);
}

}  // namespace assay::engine
