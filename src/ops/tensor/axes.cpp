#include "ops/tensor/axes.h"
#include "tensor/index_text.h"

#include <algorithm>
#include <numeric>

namespace assay {

std::vector<size_t> normalize_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> out;
  for (const int64_t axis : axes) {
    const auto at = static_cast<size_t>(normalize_axis(axis, static_cast<int>(rank)));
    require(std::find(out.begin(), out.end(), at) == out.end(), ErrorCode::kInvalidModel,
            "axis {} is named twice", at);
    out.push_back(at);
  }
  return out;
}

std::vector<size_t> axes_or_all(const OpContext& c, size_t rank) {
  if (c.has_attr("axes")) return normalize_axes(c.attr_ints("axes"), rank);
  std::vector<size_t> all(rank);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

void index_out_of_range(int64_t index, int64_t extent, size_t axis) {
  fail(ErrorCode::kInvalidArgument, "{}", out_of_range_text(index, extent, axis));
}

std::optional<std::vector<int64_t>> known_integers(const InferContext& c, size_t i) {
  const Tensor* value = c.has_input(i) ? c.input_value(i) : nullptr;
  if (value == nullptr) return std::nullopt;
  return value->to_int64();
}

std::vector<int64_t> integer_list(const EvalContext& c, size_t i, bool or_scalar) {
  const int rank = c.input(i).rank();
  c.check(rank == 1 || (or_scalar && rank == 0), "input {} must be a vector, found shape {}", i,
          c.shape(i).str());
  return c.input(i).to_int64();
}

void check_list(const InferContext& c, size_t i, bool or_scalar) {
  const Dims* dims = c.has_input(i) ? c.input_dims(i) : nullptr;
  if (dims == nullptr) return;
  c.check(dims->size() == 1 || (or_scalar && dims->empty()), "input {} must be a vector, found shape {}", i,
          dims_str(*dims));
}

int64_t known_length(const InferContext& c, size_t i) {
  const Dims* dims = c.has_input(i) ? c.input_dims(i) : nullptr;
  return dims != nullptr && dims->size() == 1 ? (*dims)[0].value() : -1;
}

void propagate_integers(InferContext& c, size_t i) {
  if (const Dims* extents = c.input_extents(0)) c.set_output_extents(i, *extents);
}

Dim merge_dim(const Dim& a, const Dim& b) {
  require(!a.is_known() || !b.is_known() || a.value() == b.value(), ErrorCode::kInvalidModel,
          "extents {} and {} must be equal", a.value(), b.value());
  if (a.is_known() || !b.is_known()) return a.is_known() || a.is_symbol() ? a : b;
  return b;
}

}  // namespace assay
