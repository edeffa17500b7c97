// Reshape: the same elements under another shape. In the shape input, 0 copies the input's extent (unless
// allowzero), and one -1 takes what remains. In opset 1 the shape is an attribute.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/math/extent_math.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_Reshape {
namespace {

/// The one extent that the others and the size of the input determine: the -1, or the only one that is not
/// known (a Dim cannot hold -1, and that extent must make the sizes equal). `size()` when there is none.
size_t open_extent(const InferContext& c, const Dims& wanted) {
  size_t open = wanted.size();
  const Tensor* value = c.input_value(1);
  const std::vector<int64_t> numbers = value ? value->to_int64() : std::vector<int64_t>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_open = value ? numbers[i] == -1 : !wanted[i].is_known() && !wanted[i].is_symbol();
    if (!is_open) continue;
    c.check(open == wanted.size() || value == nullptr, "the shape has more than one -1");
    if (open != wanted.size()) return wanted.size();
    open = i;
  }
  return open;
}

/// The extents of the input that the other extents of the output leave. Extents in both cancel: copied ones,
/// whatever they are, and equal ones, symbols too.
Dim remaining_extent(const InferContext& c, const Dims& in, const Dims& out, size_t open,
                     const std::vector<bool>& is_copied) {
  Dims left;
  for (size_t i = 0; i < in.size(); ++i)
    if (i >= out.size() || !is_copied[i]) left.push_back(in[i]);
  Dim rest(1);
  for (size_t i = 0; i < out.size(); ++i) {
    if (i == open || is_copied[i]) continue;
    const auto same = std::find_if(left.begin(), left.end(), [&](const Dim& d) { return d.same_as(out[i]); });
    if (same != left.end())
      left.erase(same);
    else
      rest = dim_mul(rest, out[i]);
  }
  const Dim remaining = dim_product(left, 0, left.size());
  if (!remaining.is_known() || !rest.is_known()) return dim_floor_div(remaining, rest);
  if (rest.value() == 0) return {};
  c.check(remaining.value() % rest.value() == 0, "cannot reshape {} to {}", dims_str(in), dims_str(out));
  return Dim(remaining.value() / rest.value());
}

/// As many extents as the shape input has elements, where that is known: the output's rank.
void infer_rank(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  const int64_t rank = known_length(c, 1);
  if (rank < 0 || rank > static_cast<int64_t>(kLongestExtents)) return c.set_output(0, dtype);
  c.set_output(0, dtype, Dims(static_cast<size_t>(rank)));
}

/// The wanted extents; unknown where they may be 0 or -1, which mean something else.
Dims certain_extents(const InferContext& c, Dims wanted) {
  for (Dim& d : wanted)
    if (d.is_symbol() && !is_not_negative(d) && !c.is_extent(d)) d = Dim();
  return wanted;
}

/// Replaces each 0 by the input's extent at that place; whether one was copied, for all places.
std::vector<bool> copy_extents(const InferContext& c, const Dims* in, Dims& out) {
  std::vector<bool> is_copied(out.size(), false);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].is_known() || out[i].value() != 0) continue;
    c.check(in == nullptr || i < in->size(), "the shape copies extent {} of an input of rank {}", i,
            in ? in->size() : 0);
    out[i] = in ? (*in)[i] : Dim();
    is_copied[i] = true;
  }
  return is_copied;
}

void check_size(const InferContext& c, const Dims& in, const Dims& out) {
  const Dim before = dim_product(in, 0, in.size()), after = dim_product(out, 0, out.size());
  c.check(!before.is_known() || !after.is_known() || before.value() == after.value(),
          "cannot reshape {} to {}", dims_str(in), dims_str(out));
}

void infer(InferContext& c) {
  check_list(c, 1);
  const Dims* wanted = c.input_extents(1);
  if (wanted == nullptr) return infer_rank(c);
  const bool allow_zero = c.since() >= 14 && c.attr_int("allowzero") != 0;
  const Dims* in = c.input_dims(0);
  Dims out = certain_extents(c, *wanted);
  const size_t open = open_extent(c, out);
  const std::vector<bool> is_copied =
      allow_zero ? std::vector<bool>(out.size(), false) : copy_extents(c, in, out);
  if (open < out.size())
    out[open] = in ? remaining_extent(c, *in, out, open, is_copied) : Dim();
  else if (in != nullptr)
    check_size(c, *in, out);
  c.set_output(0, c.input_dtype(0), std::move(out));
}

Shape resolve(const Shape& in, const std::vector<int64_t>& wanted, bool allow_zero) {
  Shape out;
  int64_t known = 1;
  int inferred = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t d = wanted[i];
    if (d == 0 && !allow_zero) {
      require(i < in.size(), ErrorCode::kInvalidModel, "the shape copies extent {} of an input of rank {}", i,
              in.rank());
      d = in[i];
    }
    require(d >= -1, ErrorCode::kInvalidModel, "the shape has the negative extent {}", d);
    if (d == -1) {
      require(inferred < 0, ErrorCode::kInvalidModel, "the shape has more than one -1");
      inferred = static_cast<int>(i);
    } else {
      require(!__builtin_mul_overflow(known, d, &known), ErrorCode::kInvalidModel,
              "the shape's product overflows");
    }
    out.push_back(d);
  }
  if (inferred >= 0) {
    require(known != 0 && in.numel() % known == 0, ErrorCode::kInvalidModel, "cannot reshape {} to {}",
            in.str(), out.str());
    out[static_cast<size_t>(inferred)] = in.numel() / known;
  }
  return out;
}

void eval(EvalContext& c) {
  const bool allow_zero = c.since() >= 14 && c.attr_int("allowzero") != 0;
  c.set_output(0, c.input(0).reshaped(resolve(c.shape(0), integer_list(c, 1), allow_zero)));
}

void eval_attribute(EvalContext& c) {
  c.set_output(0, c.input(0).reshaped(resolve(c.shape(0), c.attr_ints("shape"), false)));
}

void infer_attribute(InferContext& c) {
  const std::vector<int64_t> wanted = c.attr_ints("shape");
  const Dims* in = c.input_dims(0);
  const std::optional<Shape> shape = in != nullptr ? known_shape(*in) : std::nullopt;
  if (shape) return c.set_output(0, c.input_dtype(0), to_dims(resolve(*shape, wanted, false)));
  Dims out(wanted.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (wanted[i] > 0) out[i] = Dim(wanted[i]);
  c.set_output(0, c.input_dtype(0), std::move(out));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out reshaped: T
attr consumed_inputs: ints
attr shape: ints
type T: @float)",
     infer_attribute, eval_attribute},
    {5, R"(
in  data: T
in  shape: int64
out reshaped: T
type T: @all)",
     infer, eval},
    {13, R"(
in  data: T
in  shape: int64
out reshaped: T
type T: @all_ir4)",
     infer, eval},
    {14, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir4)",
     infer, eval},
    {19, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir9)",
     infer, eval},
    {21, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir10)",
     infer, eval},
    {23, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir11)",
     infer, eval},
    {24, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir12)",
     infer, eval},
    {25, R"(
in  data: T
in  shape: int64
out reshaped: T
attr allowzero: int = 0
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Reshape",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
            .uses = {{{.kind = InputUse::Kind::kShape, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Reshape
