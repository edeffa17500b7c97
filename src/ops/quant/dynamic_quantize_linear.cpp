// DynamicQuantizeLinear: quantises to uint8 with the scale and zero point that the data's own range, widened
// to include 0, asks for. Data of zeros only have the scale 1.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay {
namespace {

constexpr double kHighest = 255;

void infer(InferContext& c) {
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, DType::kUInt8, *in);
  else
    c.set_output(0, DType::kUInt8);
  c.set_output(1, DType::kFloat32, Dims());
  c.set_output(2, DType::kUInt8, Dims());
}

/// F is the type of the arithmetic: float for stored values, double for ideal ones.
template <typename F>
void quantize(EvalContext& c) {
  const Tensor& x = c.input(0);
  c.check(x.numel() > 0, "there is nothing to take the range of");
  const F* px = x.data<F>();
  const F low = std::min(F(0), *std::min_element(px, px + x.numel()));
  const F high = std::max(F(0), *std::max_element(px, px + x.numel()));
  const F scale = high == low ? F(1) : (high - low) / static_cast<F>(kHighest);
  const double zero = level_of(static_cast<double>(F(0) - low / scale), 0, DType::kUInt8);
  Tensor y = Tensor::allocate(DType::kUInt8, x.shape());
  uint8_t* py = y.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.numel(); ++i)
    py[i] = static_cast<uint8_t>(level_of(static_cast<double>(px[i] / scale), zero, DType::kUInt8));
  c.set_output(0, std::move(y));
  c.set_output(1, Tensor::scalar<F>(scale));
  c.set_output(2, Tensor::scalar<uint8_t>(static_cast<uint8_t>(zero)));
}

void eval(EvalContext& c) {
  visit_dtype<float, double>(c.input(0).dtype(), [&]<typename T>() { quantize<T>(c); });
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  x: T1
out y: T2
out y_scale: float
out y_zero_point: T2
type T1: float
type T2: uint8)",
     infer, eval},
};

}  // namespace

/// The scale is a difference of numbers of opposite sign, divided.
constinit const OpDef op_onnx_DynamicQuantizeLinear = {
    .domain = "",
    .name = "DynamicQuantizeLinear",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .types = EvalTypes::kAsStored,
};

}  // namespace assay
