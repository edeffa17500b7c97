// SpaceToDepth: moves blocks of the spatial dimensions to the channels. In mode DCR (the only one before
// opset 28) the depth runs fastest within the blocks of channels, in mode CRD the blocks do.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_SpaceToDepth {
namespace {

int64_t block_size(const OpContext& c) {
  const int64_t block = c.attr_int("blocksize");
  c.check(block > 0 && block <= INT32_MAX, "blocksize is {}", block);
  return block;
}

bool depth_first(const OpContext& c) {
  if (c.since() < 28) return true;
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "DCR" || mode == "CRD", "the mode '{}' is unknown", mode);
  return mode == "DCR";
}

void infer(InferContext& c) {
  const int64_t block = block_size(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0), Dims(4));
  c.check(in->size() == 4, "the input must have rank 4, it has rank {}", in->size());
  for (size_t d = 2; d < 4; ++d)
    c.check(!(*in)[d].is_known() || (*in)[d].value() % block == 0,
            "extent {} does not divide into blocks of {}", (*in)[d].value(), block);
  c.set_output(0, c.input_dtype(0),
               {(*in)[0], dim_mul((*in)[1], Dim(block * block)), dim_floor_div((*in)[2], Dim(block)),
                dim_floor_div((*in)[3], Dim(block))});
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const int64_t b = block_size(c);
  c.check(in.size() == 4, "the input must have rank 4, it has shape {}", in.str());
  c.check(in[2] % b == 0 && in[3] % b == 0, "shape {} does not divide into blocks of {}", in.str(), b);
  int64_t channels = 0;
  c.check(!__builtin_mul_overflow(in[1], b * b, &channels), "shape {} in blocks of {} overflows", in.str(),
          b);
  const Tensor blocks = c.input(0).reshaped({in[0], in[1], in[2] / b, b, in[3] / b, b});
  const std::vector<size_t> order =
      depth_first(c) ? std::vector<size_t>{0, 3, 5, 1, 2, 4} : std::vector<size_t>{0, 1, 3, 5, 2, 4};
  c.set_output(0, permuted(blocks, order).reshaped({in[0], channels, in[2] / b, in[3] / b}));
}

constexpr OpVersion kVersions[] = {
    {1, "same as DepthToSpace-1", infer, eval},
    {13, R"(
in  input: T
out output: T
attr blocksize: int required
type T: @all_ir4)",
     infer, eval},
    {28, "same as DepthToSpace-13", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SpaceToDepth",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
        },
};

}  // namespace assay::op_onnx_SpaceToDepth
