// Slice: data[start:end:step] along some axes, with NumPy's clamping. The numbers are attributes before opset
// 10, inputs from then on.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/positive_symbols.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_Slice {
namespace {

/// The range taken along one axis.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};

/// The numbers of the node; an inner list that is not known yet is omitted.
struct Numbers {
  std::vector<int64_t> starts, ends, axes, steps;
};

Range clamp_range(int64_t start, int64_t end, int64_t step, int64_t extent) {
  require(step != 0, ErrorCode::kInvalidModel, "a step is 0");
  if (extent == 0) return {};
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    // (end - start + step - 1) / step would overflow for a huge step.
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, 0, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  // A step below -extent takes one element, as -extent does; it need not be negated.
  step = std::max(step, -extent);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

/// Fills in the defaults and checks that the lists match.
void complete(const OpContext& c, Numbers& n, bool has_axes, bool has_steps) {
  const size_t count = n.starts.size();
  if (!has_axes)
    for (size_t i = 0; i < count; ++i) n.axes.push_back(static_cast<int64_t>(i));
  if (!has_steps) n.steps.assign(count, 1);
  c.check(n.ends.size() == count && n.axes.size() == count && n.steps.size() == count,
          "starts, ends, axes and steps have {}, {}, {} and {} entries", count, n.ends.size(), n.axes.size(),
          n.steps.size());
}

/// The range along every axis of a tensor.
std::vector<Range> ranges_of(const Numbers& n, const Shape& in) {
  std::vector<Range> ranges;
  for (const int64_t extent : in) ranges.push_back({0, 1, extent});
  const std::vector<size_t> axes = normalize_axes(n.axes, in.size());
  for (size_t i = 0; i < axes.size(); ++i)
    ranges[axes[i]] = clamp_range(n.starts[i], n.ends[i], n.steps[i], in[axes[i]]);
  return ranges;
}

/// The numbers when all are known before the model runs.
std::optional<Numbers> known_numbers(const InferContext& c) {
  Numbers n;
  if (c.since() < 10) {
    n = {c.attr_ints("starts"), c.attr_ints("ends"), c.attr_ints("axes"), {}};
    complete(c, n, c.has_attr("axes"), false);
    return n;
  }
  const auto starts = known_integers(c, 1), ends = known_integers(c, 2);
  const auto axes = known_integers(c, 3), steps = known_integers(c, 4);
  if (!starts || !ends || (c.has_input(3) && !axes) || (c.has_input(4) && !steps)) return std::nullopt;
  n = {*starts, *ends, axes.value_or(std::vector<int64_t>()), steps.value_or(std::vector<int64_t>())};
  complete(c, n, c.has_input(3), c.has_input(4));
  return n;
}

/// The axes that the node may slice; all when they are not known.
std::vector<bool> cut_axes(const InferContext& c, size_t rank) {
  std::vector<bool> cut(rank, true);
  const std::optional<std::vector<int64_t>> axes = known_integers(c, 3);
  if (!axes && c.has_input(3)) return cut;
  const int64_t count = axes ? static_cast<int64_t>(axes->size()) : known_length(c, 1);
  if (count < 0) return cut;
  cut.assign(rank, false);
  for (int64_t i = 0; i < count; ++i)
    cut[static_cast<size_t>(
        normalize_axis(axes ? (*axes)[static_cast<size_t>(i)] : i, static_cast<int>(rank)))] = true;
  return cut;
}

/// A start or an end: a number, or what extents give.
struct Position {
  std::optional<int64_t> number;
  Dim extent;
};

/// A position along an axis, where it is at least 0 and at most the extent for all values of symbols.
/// Negative numbers count from the end.
std::optional<ExtentForm> position_within(const Position& at, const ExtentForm& extent) {
  if (at.number && *at.number == INT64_MAX) return extent;
  std::optional<ExtentForm> form = at.number ? ExtentForm(*at.number) : ExtentForm::of(at.extent);
  if (at.number && *at.number < 0) form = sum(extent, ExtentForm(*at.number));
  const auto rest = form ? sum(extent, *form, -1) : std::nullopt;
  if (!rest || !PositiveSymbols::is_never_negative(*form) || !PositiveSymbols::is_never_negative(*rest))
    return std::nullopt;
  return form;
}

/// The extent of [start : end]; unknown unless both are within the axis for all values of symbols.
Dim extent_between(const Position& start, const Position& end, const Dim& in) {
  const std::optional<ExtentForm> extent = ExtentForm::of(in);
  if (!extent) return {};
  const auto first = position_within(start, *extent), behind = position_within(end, *extent);
  const auto count = first && behind ? sum(*behind, *first, -1) : std::nullopt;
  if (!count || !PositiveSymbols::is_never_negative(*count)) return {};
  if (const auto number = count->number()) return Dim(*number);
  return *count == *extent ? in : Dim();
}

/// One extent of the output when the input's is not known.
Dim unknown_extent(int64_t start, int64_t end, int64_t step, const Dim& in) {
  if (step == 1) return start == 0 && end == INT64_MAX ? in : extent_between({start, {}}, {end, {}}, in);
  return step == -1 && start == -1 && end <= -INT64_MAX ? in : Dim();
}

std::optional<std::vector<Position>> positions(const InferContext& c, size_t input) {
  std::vector<Position> list;
  if (const auto numbers = known_integers(c, input)) {
    for (const int64_t n : *numbers) list.push_back({n, {}});
    return list;
  }
  const Dims* extents = c.input_extents(input);
  if (extents == nullptr) return std::nullopt;
  for (const Dim& d : *extents) list.push_back({d.is_known() ? std::optional(d.value()) : std::nullopt, d});
  return list;
}

/// Between computed ends.
void infer_symbolic_ends(const InferContext& c, Dims& out) {
  const auto axes = known_integers(c, 3), steps = known_integers(c, 4);
  const auto starts = positions(c, 1), ends = positions(c, 2);
  const Dims& in = *c.input_dims(0);
  if (!starts || !ends || (c.has_input(3) && !axes) || (c.has_input(4) && !steps)) return;
  if ((axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size())) return;
  for (size_t i = 0; i < std::min(starts->size(), ends->size()); ++i) {
    const auto axis = static_cast<size_t>(
        normalize_axis(axes ? (*axes)[i] : static_cast<int64_t>(i), static_cast<int>(in.size())));
    if (steps && (*steps)[i] != 1) continue;
    if ((*starts)[i].number == 0 && (*ends)[i].extent.same_as(in[axis]))
      out[axis] = in[axis];
    else
      out[axis] = extent_between((*starts)[i], (*ends)[i], in[axis]);
  }
}

void infer(InferContext& c) {
  if (c.since() >= 10)
    for (size_t i = 1; i <= 4; ++i) check_list(c, i);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  const std::optional<Numbers> n = known_numbers(c);
  Dims out = *in;
  if (!n) {
    const std::vector<bool> cut = cut_axes(c, in->size());
    for (size_t d = 0; d < out.size(); ++d)
      if (cut[d]) out[d] = Dim();
    infer_symbolic_ends(c, out);
    return c.set_output(0, c.input_dtype(0), std::move(out));
  }
  const std::vector<size_t> axes = normalize_axes(n->axes, in->size());
  Range first{0, 1, 0};
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& extent = out[axes[i]];
    if (extent.is_known()) {
      first = clamp_range(n->starts[i], n->ends[i], n->steps[i], extent.value());
      extent = Dim(first.count);
    } else {
      extent = unknown_extent(n->starts[i], n->ends[i], n->steps[i], extent);
    }
  }
  const bool vector = in->size() == 1 && (*in)[0].is_known();
  c.set_output(0, c.input_dtype(0), std::move(out));
  const Dims* extents = c.input_extents(0);
  if (!vector || extents == nullptr) return;
  if (axes.empty()) return propagate_integers(c);
  Dims taken;
  for (int64_t i = 0; i < first.count; ++i)
    taken.push_back((*extents)[static_cast<size_t>(first.start + i * first.step)]);
  c.set_output_extents(0, std::move(taken));
}

void eval(EvalContext& c) {
  Numbers n;
  if (c.since() < 10) {
    n = {c.attr_ints("starts"), c.attr_ints("ends"), c.attr_ints("axes"), {}};
    complete(c, n, c.has_attr("axes"), false);
  } else {
    n.starts = integer_list(c, 1);
    n.ends = integer_list(c, 2);
    if (c.has_input(3)) n.axes = integer_list(c, 3);
    if (c.has_input(4)) n.steps = integer_list(c, 4);
    complete(c, n, c.has_input(3), c.has_input(4));
  }
  const std::vector<int64_t> strides = c.shape(0).strides();
  const std::vector<Range> ranges = ranges_of(n, c.shape(0));
  Region from;
  Shape out;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const Range& r = ranges[d];
    out.push_back(r.count);
    if (r.count > 0) from.offset += r.start * strides[d];
    from.strides.push_back(r.count > 1 ? r.step * strides[d] : 0);
  }
  c.set_output(0, copy_region(c.input(0), from, out));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out output: T
attr ends: ints required
attr starts: ints required
attr axes: ints
type T: @all)",
     infer, eval},
    {10, R"(
in  data: T
in  starts: Tind
in  ends: Tind
in  axes: Tind ?
in  steps: Tind ?
out output: T
type T: @all
type Tind: int32 int64)",
     infer, eval},
    {11, "same as Slice-10", infer, eval},
    {13, R"(
in  data: T
in  starts: Tind
in  ends: Tind
in  axes: Tind ?
in  steps: Tind ?
out output: T
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Slice",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 3},
                      {.kind = InputUse::Kind::kCount, .input = 4}}},
        },
};

}  // namespace assay::op_onnx_Slice
