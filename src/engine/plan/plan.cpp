#include "engine/plan/plan.h"

#include <algorithm>

namespace assay::engine {
namespace {

void add_to_hash(size_t& hash, const Shape& s) {
  constexpr size_t kOdd = 0x9E3779B97F4A7C15;
  hash = (hash ^ s.size()) * kOdd;
  for (const int64_t extent : s.dims()) hash = (hash ^ static_cast<size_t>(extent) ^ (hash >> 29)) * kOdd;
}

}  // namespace

std::string Layout::str() const {
  return is_row() ? "row" : is_channels_last() ? "channels_last" : fmt::format("blocked{}", block);
}

std::string Format::str() const {
  return dtype == DType::kUndefined ? layout.str() : fmt::format("{} {}", layout.str(), dtype_name(dtype));
}

size_t layout_bytes(DType dtype, const Shape& shape, Layout layout) {
  if (!layout.is_blocked()) return storage_bytes(dtype, shape.numel());
  Shape padded = shape;
  padded[1] = (shape[1] + layout.block - 1) / layout.block * layout.block;
  return storage_bytes(dtype, padded.numel());
}

bool same_memory(const Shape& shape, Layout a, Layout b) {
  if (a == b) return true;
  if (shape.rank() < 2) return false;
  for (const Layout l : {a, b})
    if (l.is_blocked() && shape[1] % l.block != 0) return false;
  if (shape.numel(2, shape.size()) == 1) return true;
  return !a.is_blocked() && !b.is_blocked() && shape[1] == 1;
}

std::string step_name(const Step& step) {
  std::string name;
  for (const std::string& origin : step.origins) name += (name.empty() ? "" : " + ") + origin;
  return name.empty() ? step.tactic : name;
}

std::string computes_text(const Step& step) {
  if (step.computes == DType::kUndefined) return {};
  const std::string type(dtype_name(step.computes));
  return step.why.empty() ? type : fmt::format("{} ({})", type, step.why);
}

std::string tactic_text(const Step& step) {
  return step.variant.empty() ? step.tactic : step.tactic + ":" + step.variant;
}

size_t PlanKey::hash_of_shapes() const {
  size_t hash = 0;
  for (const Shape& s : shapes) add_to_hash(hash, s);
  return hash;
}

size_t hash_of_shapes(std::span<const Tensor> inputs) {
  size_t hash = 0;
  const Shape none;
  for (const Tensor& t : inputs) add_to_hash(hash, t.is_container() ? none : t.shape());
  return hash;
}

bool PlanKey::has_shapes(std::span<const Tensor> inputs) const {
  if (inputs.size() != shapes.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_container() && inputs[i].shape() != shapes[i]) return false;
  return true;
}

bool PlanKey::matches(std::span<const Tensor> inputs) const {
  return has_shapes(inputs) && std::all_of(values.begin(), values.end(), [&](const auto& v) {
           return inputs[v.first].identical(v.second);
         });
}

}  // namespace assay::engine
