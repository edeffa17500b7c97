// DynamicQuantizeLinear: quantizes to uint8 with the scale and zero point that the data's own range, widened
// to include 0, asks for. Data of zeros only have the scale 1.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay::op_onnx_DynamicQuantizeLinear {
namespace {

constexpr float kHighest = 255;

void infer(InferContext& c) {
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, DType::kUInt8, *in);
  else
    c.set_output(0, DType::kUInt8);
  c.set_output(1, DType::kFloat32, Dims());
  c.set_output(2, DType::kUInt8, Dims());
}

/// In float32, the type of x and the scale, also where the reference works with ideal values: the range of
/// carefully chosen data often has exact ties.
void eval(EvalContext& c) {
  const Tensor x = convert(c.input(0), DType::kFloat32);
  c.check(x.numel() > 0, "there is nothing to take the range of");
  const float* px = x.data<float>();
  const float low = std::min(0.0F, *std::min_element(px, px + x.numel()));
  const float high = std::max(0.0F, *std::max_element(px, px + x.numel()));
  const float scale = high == low ? 1.0F : (high - low) / kHighest;
  const double zero = level_of(static_cast<double>(0.0F - low / scale), 0, DType::kUInt8);
  Tensor y = Tensor::allocate(DType::kUInt8, x.shape());
  uint8_t* py = y.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.numel(); ++i)
    py[i] = static_cast<uint8_t>(level_of(static_cast<double>(px[i] / scale), zero, DType::kUInt8));
  c.set_output(0, std::move(y));
  c.set_output(1, Tensor::scalar<float>(scale));
  c.set_output(2, Tensor::scalar<uint8_t>(static_cast<uint8_t>(zero)));
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
constinit const OpDef def = {
    .domain = "",
    .name = "DynamicQuantizeLinear",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = OpFacts::kOwnScale,
            .compares = {{{.reach = ComparisonFact::Reach::kAll, .infinities = true}}},
        },
};

}  // namespace assay::op_onnx_DynamicQuantizeLinear
