// DepthToSpace: moves blocks of channels to the spatial dimensions. In mode DCR the depth runs fastest within
// the blocks of channels, in mode CRD the blocks do.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_DepthToSpace {
namespace {

int64_t block_size(const OpContext& c) {
  const int64_t block = c.attr_int("blocksize");
  c.check(block > 0 && block <= INT32_MAX, "blocksize is {}", block);
  return block;
}

bool depth_first(const OpContext& c) {
  if (c.since() < 11) return true;
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "DCR" || mode == "CRD", "the mode '{}' is unknown", mode);
  return mode == "DCR";
}

void infer(InferContext& c) {
  const int64_t block = block_size(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0), Dims(4));
  c.check(in->size() == 4, "the input must have rank 4, it has rank {}", in->size());
  const Dim channels = (*in)[1];
  c.check(!channels.is_known() || channels.value() % (block * block) == 0,
          "{} channels do not divide into blocks of {}", channels.value(), block * block);
  c.set_output(0, c.input_dtype(0),
               {(*in)[0], dim_floor_div(channels, Dim(block * block)), dim_mul((*in)[2], Dim(block)),
                dim_mul((*in)[3], Dim(block))});
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const int64_t b = block_size(c);
  c.check(in.size() == 4, "the input must have rank 4, it has shape {}", in.str());
  c.check(in[1] % (b * b) == 0, "{} channels do not divide into blocks of {}", in[1], b * b);
  const int64_t depth = in[1] / (b * b);
  int64_t height = 0, width = 0;
  c.check(!__builtin_mul_overflow(in[2], b, &height) && !__builtin_mul_overflow(in[3], b, &width),
          "shape {} in blocks of {} overflows", in.str(), b);
  const Tensor blocks = depth_first(c) ? c.input(0).reshaped({in[0], b, b, depth, in[2], in[3]})
                                       : c.input(0).reshaped({in[0], depth, b, b, in[2], in[3]});
  const std::vector<size_t> order =
      depth_first(c) ? std::vector<size_t>{0, 3, 4, 1, 5, 2} : std::vector<size_t>{0, 1, 4, 2, 5, 3};
  c.set_output(0, permuted(blocks, order).reshaped({in[0], depth, height, width}));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr blocksize: int required
type T: @all)",
     infer, eval},
    {11, R"(
in  input: T
out output: T
attr mode: string = "DCR"
attr blocksize: int required
type T: @all)",
     infer, eval},
    {13, R"(
in  input: T
out output: T
attr mode: string = "DCR"
attr blocksize: int required
type T: @all_ir4)",
     infer, eval},
    {28, "same as DepthToSpace-13", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "DepthToSpace",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
        },
};

}  // namespace assay::op_onnx_DepthToSpace
