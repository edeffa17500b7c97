#include "ops/legacy_broadcast.h"

#include "ops/tensor/axes.h"

namespace assay {
namespace {

/// The second input's extents under the first one's rank.
Dims aligned(const OpContext& c, const Dims& first, const Dims& second) {
  const auto rank = static_cast<int64_t>(first.size()), count = static_cast<int64_t>(second.size());
  c.check(c.attr_int("broadcast") != 0 || count == rank,
          "the inputs have ranks {} and {}, and the attribute 'broadcast' does not ask for broadcasting",
          rank, count);
  c.check(count <= rank, "the second input has {} dimensions, the first only {}", count, rank);
  int64_t axis = c.attr_int("axis", rank - count);
  if (axis < 0) axis += rank;
  c.check(axis >= 0 && axis <= rank - count, "from axis {} on, the first input has fewer than {} dimensions",
          c.attr_int("axis", rank - count), count);
  Dims out(first.size(), Dim(1));
  std::copy(second.begin(), second.end(), out.begin() + axis);
  return out;
}

void check_extents(const OpContext& c, const Dims& first, const Dims& second) {
  const bool may_repeat = c.attr_int("broadcast") != 0;
  const Dims a = aligned(c, first, second);
  for (size_t i = 0; i < a.size(); ++i)
    c.check(!a[i].is_known() || !first[i].is_known() || a[i].value() == first[i].value() ||
                (may_repeat && a[i].value() == 1),
            "a second input of shape {} does not fit a first one of shape {}", dims_str(second),
            dims_str(first));
}

void infer_as(InferContext& c, DType dtype) {
  const Dims *first = c.input_dims(0), *second = c.input_dims(1);
  if (first == nullptr) return c.set_output(0, dtype);
  if (second != nullptr) check_extents(c, *first, *second);
  c.set_output(0, dtype, *first);
}

}  // namespace

void infer_legacy_broadcast(InferContext& c) { infer_as(c, c.input_dtype(0)); }
void infer_legacy_broadcast_bool(InferContext& c) { infer_as(c, DType::kBool); }

Shape legacy_second_shape(const OpContext& c, const Shape& first, const Shape& second) {
  check_extents(c, to_dims(first), to_dims(second));
  return *known_shape(aligned(c, to_dims(first), to_dims(second)));
}

void infer_equal_shapes(InferContext& c) {
  const Dims* first = nullptr;
  Dims out;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims* d = c.input_dims(i);
    if (d == nullptr) continue;
    if (first == nullptr) out = *(first = d);
    c.check(d->size() == out.size(), "the inputs have shapes {} and {}, and this version does not broadcast",
            dims_str(*first), dims_str(*d));
    for (size_t k = 0; k < out.size(); ++k) out[k] = merge_dim(out[k], (*d)[k]);
  }
  if (first == nullptr) return c.set_output(0, c.input_dtype(0));
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void check_equal_shapes(const EvalContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i)
    c.check(c.shape(i) == c.shape(0), "the inputs have shapes {} and {}, and this version does not broadcast",
            c.shape(0).str(), c.shape(i).str());
}

}  // namespace assay
