#include "ops/reduce/reduce_common.h"

#include <optional>

#include "ops/infer_util.h"
#include "ops/math/extent_math.h"
#include "ops/schema.h"

namespace assay {
namespace {

/// Since version 13 (ReduceSum) or 18 the axes are an input.
bool has_axes_input(const OpContext& c) { return schema_of(c.version()).inputs.size() == 2; }

bool reduces_nothing_by_default(const OpContext& c) {
  return has_axes_input(c) && c.attr_int("noop_with_empty_axes") != 0;
}

/// Which dimensions are reduced.
std::vector<bool> flags_of(const OpContext& c, const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> flags(static_cast<size_t>(rank), axes.empty() && !reduces_nothing_by_default(c));
  for (const int64_t axis : axes) {
    const auto i = static_cast<size_t>(normalize_axis(axis, rank, "a reduced axis"));
    c.check(!flags[i], "axis {} is reduced twice", axis);
    flags[i] = true;
  }
  return flags;
}

/// The axes as far as inference knows them.
std::optional<std::vector<int64_t>> known_axes(const InferContext& c) {
  if (!has_axes_input(c)) return c.attr_ints("axes");
  if (!c.has_input(1)) return std::vector<int64_t>();
  const Tensor* value = c.input_value(1);
  return value ? std::optional(value->to_int64()) : std::nullopt;
}

/// The part of the shape that is known although the reduced dimensions are not.
std::optional<Dims> dims_for_unknown_axes(const InferContext& c, size_t rank) {
  if (c.attr_int("keepdims") != 0) return Dims(rank);
  const Dims* axes = c.input_dims(1);
  if (axes == nullptr || axes->size() != 1 || !(*axes)[0].is_known() || (*axes)[0].value() == 0) return {};
  const auto count = static_cast<size_t>((*axes)[0].value());
  c.check(count <= rank, "{} axes of an input of rank {} cannot be reduced", count, rank);
  return Dims(rank - count);
}

}  // namespace

Reduction plan_reduction(const Shape& input, const std::vector<bool>& is_reduced, bool keepdims) {
  Reduction r;
  const std::vector<int64_t> strides = input.strides();
  bool open = false, last_reduced = false;
  for (size_t d = 0; d < input.size(); ++d) {
    if (!is_reduced[d])
      r.output.push_back(input[d]);
    else if (keepdims)
      r.output.push_back(1);
    if (is_reduced[d]) r.count *= input[d];
    if (input[d] == 1) continue;
    auto& extents = is_reduced[d] ? r.reduced : r.kept;
    auto& steps = is_reduced[d] ? r.reduced_strides : r.kept_strides;
    if (open && last_reduced == is_reduced[d]) {
      extents.back() *= input[d];
      steps.back() = strides[d];
    } else {
      extents.push_back(input[d]);
      steps.push_back(strides[d]);
    }
    open = true;
    last_reduced = is_reduced[d];
  }
  r.inner_reduced = !open || last_reduced;
  if (!open) {
    r.reduced.push_back(1);
    r.reduced_strides.push_back(1);
  }
  return r;
}

std::vector<bool> reduced_flags(const EvalContext& c) {
  std::vector<int64_t> axes;
  if (!has_axes_input(c))
    axes = c.attr_ints("axes");
  else if (c.has_input(1))
    axes = c.input(1).to_int64();
  return flags_of(c, axes, c.input(0).rank());
}

Reduction plan_reduction(const EvalContext& c) {
  return plan_reduction(c.shape(0), reduced_flags(c), c.attr_int("keepdims") != 0);
}

Dims reduced_dims(const Dims& in, const std::vector<bool>& is_reduced, bool keepdims) {
  Dims out;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!is_reduced[d])
      out.push_back(in[d]);
    else if (keepdims)
      out.push_back(Dim(1));
  }
  return out;
}

void infer_reduce(InferContext& c) {
  const Dims* in = c.input_dims(0);
  const auto axes = known_axes(c);
  if (in == nullptr) {
    const bool scalar =
        axes && axes->empty() && !reduces_nothing_by_default(c) && c.attr_int("keepdims") == 0;
    return scalar ? c.set_output(0, c.input_dtype(0), Dims()) : c.set_output(0, c.input_dtype(0));
  }
  if (axes) {
    const auto flags = flags_of(c, *axes, static_cast<int>(in->size()));
    return c.set_output(0, c.input_dtype(0), reduced_dims(*in, flags, c.attr_int("keepdims") != 0));
  }
  if (auto dims = dims_for_unknown_axes(c, in->size()))
    return c.set_output(0, c.input_dtype(0), std::move(*dims));
  c.set_output(0, c.input_dtype(0));
}

void propagate_reduce(InferContext& c, Element identity, Element (*f)(const Element&, const Element&)) {
  const auto axes = known_axes(c);
  const auto elements = input_elements(c, 0);
  if (!axes || !elements || c.input_rank(0) != 1) return;
  if (axes->empty() && reduces_nothing_by_default(c)) return set_output_elements(c, *elements);
  for (const Element& e : *elements) identity = f(identity, e);
  set_output_elements(c, {identity});
}

int64_t reduced_count(EvalContext& c) { return plan_reduction(c).count; }

}  // namespace assay
