// NhwcMaxPool: the largest element of each window of an 8-bit image [N, spatial..., C].
#include "ops/contrib/channels_last.h"
#include "ops/contrib/standard.h"
#include "ops/nn/pool.h"
#include "ops/op_list.h"

namespace assay::op_ms_NhwcMaxPool {
namespace {

void infer(InferContext& c) { infer_channels_last(c, infer_pool); }

void eval(EvalContext& c) {
  eval_channels_last(c, [](EvalContext& turned) { eval_as(turned, op_onnx_MaxPool::def, 12); });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  x: T
out y: T
attr pads: ints
attr strides: ints
attr ceil_mode: int = 0
attr dilations: ints
attr kernel_shape: ints required
attr auto_pad: string = "NOTSET"
type T: int8 uint8)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "NhwcMaxPool",
    .versions = kVersions,
};

}  // namespace assay::op_ms_NhwcMaxPool
