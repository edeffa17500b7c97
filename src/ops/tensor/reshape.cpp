// Reshape: the same elements under another shape. In the shape input, 0 copies the input's extent (unless allowzero),
// and one -1 takes what remains.
#include <algorithm>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void infer(InferContext& c) {
  const Dims* wanted = c.input_extents(1);
  const DType dtype = c.input_dtype(0);
  if (wanted == nullptr) {
    // The rank may still be known: the length of the shape input.
    const Dims* shape_dims = c.input_dims(1);
    if (shape_dims == nullptr || shape_dims->size() != 1 || !(*shape_dims)[0].is_known()) return c.set_output(0, dtype);
    return c.set_output(0, dtype, Dims(static_cast<size_t>((*shape_dims)[0].value())));
  }
  const bool allow_zero = c.since() >= 14 && c.attr_int("allowzero") != 0;
  const Dims* in = c.input_dims(0);
  Dims out = *wanted;
  // Extents that stand in both shapes cancel in the search for the -1; so symbols may be divided out.
  Dim total = in ? dim_product(*in, 0, in->size()) : Dim();
  Dim rest(1);
  int inferred = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].is_known() && out[i].value() == 0 && !allow_zero) {
      c.check(in == nullptr || i < in->size(), "the shape copies extent {} of an input of rank {}", i, in ? in->size() : 0);
      out[i] = in ? (*in)[i] : Dim();
    }
  }
  // A Dim cannot hold -1, so it arrives through the value; symbolic extents are never -1.
  const Tensor* value = c.input_value(1);
  for (size_t i = 0; i < out.size(); ++i) {
    if (value != nullptr && value->to_int64()[i] == -1) {
      c.check(inferred < 0, "the shape has more than one -1");
      inferred = static_cast<int>(i);
    }
  }
  if (inferred >= 0) {
    Dims left = in ? *in : Dims();
    for (size_t i = 0; i < out.size(); ++i) {
      if (static_cast<int>(i) == inferred) continue;
      const auto same = std::find_if(left.begin(), left.end(), [&](const Dim& d) { return d.same_as(out[i]); });
      if (same != left.end())
        left.erase(same);
      else
        rest = dim_mul(rest, out[i]);
    }
    out[static_cast<size_t>(inferred)] = Dim();
    if (in != nullptr) {
      const Dim remaining = dim_product(left, 0, left.size());
      if (remaining.is_known() && rest.is_known()) {
        c.check(rest.value() == 0 || remaining.value() % rest.value() == 0, "cannot reshape {} to {}", dims_str(*in),
                dims_str(out));
        if (rest.value() != 0) out[static_cast<size_t>(inferred)] = Dim(remaining.value() / rest.value());
      } else {
        out[static_cast<size_t>(inferred)] = dim_floor_div(remaining, rest);
      }
    }
  } else if (total.is_known()) {
    const Dim product = dim_product(out, 0, out.size());
    c.check(!product.is_known() || product.value() == total.value(), "cannot reshape {} to {}", in ? dims_str(*in) : "?",
            dims_str(out));
  }
  c.set_output(0, dtype, std::move(out));
}

Shape resolve(const Shape& in, const std::vector<int64_t>& wanted, bool allow_zero) {
  Shape out;
  int64_t known = 1;
  int inferred = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t d = wanted[i];
    if (d == 0 && !allow_zero) {
      require(i < in.size(), ErrorCode::kInvalidModel, "the shape copies extent {} of an input of rank {}", i, in.rank());
      d = in[i];
    }
    require(d >= -1, ErrorCode::kInvalidModel, "the shape has the negative extent {}", d);
    if (d == -1) {
      require(inferred < 0, ErrorCode::kInvalidModel, "the shape has more than one -1");
      inferred = static_cast<int>(i);
    } else {
      require(!__builtin_mul_overflow(known, d, &known), ErrorCode::kInvalidModel, "the shape's product overflows");
    }
    out.push_back(d);
  }
  if (inferred >= 0) {
    require(known != 0 && in.numel() % known == 0, ErrorCode::kInvalidModel, "cannot reshape {} to {}", in.str(), out.str());
    out[static_cast<size_t>(inferred)] = in.numel() / known;
  }
  return out;
}

void eval(EvalContext& c) {
  const bool allow_zero = c.since() >= 14 && c.attr_int("allowzero") != 0;
  c.set_output(0, c.input(0).reshaped(resolve(c.shape(0), c.input(1).to_int64(), allow_zero)));
}

constexpr OpVersion kVersions[] = {
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

constinit const OpDef op_onnx_Reshape = {
    .domain = "",
    .name = "Reshape",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay
