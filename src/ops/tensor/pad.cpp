// Pad: adds to the ends of each dimension: a constant, the mirrored data (reflect), the last element (edge),
// or the data again as on a torus (wrap). A negative number crops instead. The numbers are an attribute
// before opset 11.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/constant_pad.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/grid_copy.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Pad {
namespace {

enum class Mode : uint8_t { kConstant, kReflect, kEdge, kWrap };

Mode mode_of(const OpContext& c) {
  const std::string& name = c.attr_string("mode");
  if (name == "constant") return Mode::kConstant;
  if (name == "reflect") return Mode::kReflect;
  if (name == "edge") return Mode::kEdge;
  if (c.since() >= 19 && name == "wrap") return Mode::kWrap;
  fail(ErrorCode::kInvalidModel, "the mode '{}' is unknown", name);
}

/// `numbers` holds the begins of the axes, then their ends; without `axes` all are meant.
Pads spread(const std::vector<int64_t>& numbers, const std::vector<int64_t>* axes, size_t rank) {
  std::vector<size_t> where;
  if (axes != nullptr)
    where = normalize_axes(*axes, rank);
  else
    for (size_t d = 0; d < rank; ++d) where.push_back(d);
  require(numbers.size() == 2 * where.size(), ErrorCode::kInvalidModel, "pads has {} entries for {} axes",
          numbers.size(), where.size());
  Pads pads{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
  for (size_t i = 0; i < where.size(); ++i) {
    pads.begin[where[i]] = numbers[i];
    pads.end[where[i]] = numbers[where.size() + i];
  }
  return pads;
}

std::vector<int64_t> attribute_pads(const OpContext& c) {
  return c.attr_ints(c.since() < 2 ? "paddings" : "pads");
}

Dim padded(const Dim& in, int64_t begin, int64_t end) {
  constexpr int64_t kLimit = INT64_MAX / 4;
  require(std::abs(begin / 2) < kLimit / 2 && std::abs(end / 2) < kLimit / 2, ErrorCode::kInvalidModel,
          "the pads {} and {} are out of range", begin, end);
  const int64_t added = begin + end;
  if (in.is_known())
    require(in.value() >= -added, ErrorCode::kInvalidModel, "the pads {} and {} cut more than the extent {}",
            begin, end, in.value());
  return added >= 0 ? dim_add(in, Dim(added)) : dim_sub(in, Dim(-added));
}

/// The part of an axis of that extent that remains after cropping.
int64_t kept_of(int64_t extent, int64_t begin, int64_t end) {
  return extent - std::max<int64_t>(-begin, 0) - std::max<int64_t>(-end, 0);
}

void check_kept(int64_t kept, int64_t out) {
  require(kept > 0 || out == 0, ErrorCode::kInvalidModel,
          "an axis without elements cannot be padded from itself");
}

void infer(InferContext& c) {
  if (c.since() >= 11) check_list(c, 1);
  if (c.since() >= 18) check_list(c, 3);
  const Mode mode = mode_of(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  const bool has_axes = c.since() >= 18 && c.has_input(3);
  const auto numbers = c.since() < 11 ? attribute_pads(c) : known_integers(c, 1);
  const auto axes = has_axes ? known_integers(c, 3) : std::nullopt;
  Dims out(in->size());
  if (numbers && (axes || !has_axes)) {
    const Pads pads = spread(*numbers, has_axes ? &*axes : nullptr, in->size());
    for (size_t d = 0; d < out.size(); ++d) {
      out[d] = padded((*in)[d], pads.begin[d], pads.end[d]);
      if (mode != Mode::kConstant && (*in)[d].is_known() && out[d].is_known())
        check_kept(kept_of((*in)[d].value(), pads.begin[d], pads.end[d]), out[d].value());
    }
  } else if (axes) {
    out = *in;
    for (const size_t axis : normalize_axes(*axes, in->size())) out[axis] = Dim();
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// The source index of each output index along one axis; the mirrored and repeated data are those left after
/// cropping.
std::vector<int64_t> index_table(int64_t extent, int64_t begin, int64_t end, Mode mode) {
  const int64_t cut_begin = std::max<int64_t>(-begin, 0);
  const int64_t n = kept_of(extent, begin, end);
  const int64_t before = std::max<int64_t>(begin, 0), out = before + n + std::max<int64_t>(end, 0);
  check_kept(n, out);
  std::vector<int64_t> table(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    int64_t j = i - before;
    if (mode == Mode::kEdge || n == 1) {
      j = std::clamp<int64_t>(j, 0, n - 1);
    } else {
      const int64_t period = mode == Mode::kWrap ? n : 2 * (n - 1);
      j = (j % period + period) % period;
      if (j >= n) j = period - j;
    }
    table[static_cast<size_t>(i)] = cut_begin + j;
  }
  return table;
}

/// The value that constant mode fills in: zero, false or the empty string unless the node says.
Tensor fill_value(const EvalContext& c) {
  const DType dtype = c.input(0).dtype();
  if (c.since() < 11) return convert(Tensor::scalar(c.attr_float("value")), dtype);
  return c.has_input(2) ? c.input(2) : Tensor::zeros(dtype, {});
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const bool has_axes = c.since() >= 18 && c.has_input(3);
  const std::vector<int64_t> axes = has_axes ? integer_list(c, 3) : std::vector<int64_t>();
  const Pads pads =
      spread(c.since() < 11 ? attribute_pads(c) : integer_list(c, 1), has_axes ? &axes : nullptr, in.size());
  Shape out;
  for (size_t d = 0; d < in.size(); ++d) {
    const Dim extent = padded(Dim(in[d]), pads.begin[d], pads.end[d]);
    c.check(extent.is_known(), "the pads {} and {} of axis {} overflow", pads.begin[d], pads.end[d], d);
    out.push_back(extent.value());
  }
  const Mode mode = mode_of(c);
  if (mode == Mode::kConstant) return c.set_output(0, pad_constant(c.input(0), pads, fill_value(c)));
  check_output_size(unpacked_dtype(c.input(0).dtype()), out);
  std::vector<std::vector<int64_t>> tables;
  for (size_t d = 0; d < in.size(); ++d)
    tables.push_back(index_table(in[d], pads.begin[d], pads.end[d], mode));
  c.set_output(0, copy_grid(c.input(0), tables));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out output: T
attr value: float = 0
attr mode: string = "constant"
attr paddings: ints required
type T: @float)",
     infer, eval},
    {2, R"(
in  data: T
out output: T
attr value: float = 0
attr mode: string = "constant"
attr pads: ints required
type T: @float)",
     infer, eval},
    {11, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
out output: T
attr mode: string = "constant"
type T: @numeric)",
     infer, eval},
    {13, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
out output: T
attr mode: string = "constant"
type T: @all_ir4)",
     infer, eval},
    {18, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
in  axes: Tind ?
out output: T
attr mode: string = "constant"
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
    {19, "same as Pad-18", infer, eval},
    {21, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
in  axes: Tind ?
out output: T
attr mode: string = "constant"
type T: @all_ir10
type Tind: int32 int64)",
     infer, eval},
    {23, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
in  axes: Tind ?
out output: T
attr mode: string = "constant"
type T: @all_ir11
type Tind: int32 int64)",
     infer, eval},
    {24, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
in  axes: Tind ?
out output: T
attr mode: string = "constant"
type T: @all_ir12
type Tind: int32 int64)",
     infer, eval},
    {25, R"(
in  data: T
in  pads: int64
in  constant_value: T ?
in  axes: Tind ?
out output: T
attr mode: string = "constant"
type T: @all_ir13
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Pad",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1},
                      {.kind = InputUse::Kind::kAxis, .input = 3}}},
            .size_input = 1,
            .may_grow = true,
            .element_attributes = {"value"},
        },
};

}  // namespace assay::op_onnx_Pad
