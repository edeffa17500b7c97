// ReverseSequence: for each entry of the batch axis, its first sequence_lens elements along the time axis
// backwards. The two axes are 0 and 1 in either order.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_ReverseSequence {
namespace {

/// 0 or 1; throws Error unless the two attributes name 0 and 1.
size_t time_axis(const OpContext& c) {
  const int64_t time = c.attr_int("time_axis"), batch = c.attr_int("batch_axis");
  c.check((time == 0 && batch == 1) || (time == 1 && batch == 0), "time_axis is {} and batch_axis is {}",
          time, batch);
  return static_cast<size_t>(time);
}

void infer(InferContext& c) {
  const Dims *in = c.input_dims(0), *lengths = c.input_dims(1);
  const size_t batch = 1 - time_axis(c);
  c.check(in == nullptr || in->size() >= 2, "the input must have rank 2 or more, it has rank {}",
          in ? in->size() : 0);
  c.check(lengths == nullptr || lengths->size() == 1, "sequence_lens must be a vector");
  if (in != nullptr && lengths != nullptr) merge_dim((*in)[batch], (*lengths)[0]);
  infer_same_as_input(c);
}

void eval(EvalContext& c) {
  const Shape& shape = c.shape(0);
  const size_t time = time_axis(c), batch = 1 - time;
  c.check(shape.size() >= 2, "the input must have rank 2 or more, it has shape {}", shape.str());
  const std::vector<int64_t> lengths = integer_list(c, 1);
  c.check(static_cast<int64_t>(lengths.size()) == shape[batch], "{} sequence_lens for a batch of {}",
          lengths.size(), shape[batch]);
  const int64_t inner = shape.numel(2, shape.size());
  const int64_t time_step = (time == 0 ? shape[1] : 1) * inner,
                batch_step = (time == 0 ? 1 : shape[1]) * inner;
  Tensor y = unpacked(c.input(0));
  const Tensor x = y;
  visit_elements(x.dtype(), [&]<typename E>() {
    const E* from = elements<E>(x);
    E* to = mutable_elements<E>(y);
    for (size_t b = 0; b < lengths.size(); ++b) {
      const int64_t n = lengths[b], base = static_cast<int64_t>(b) * batch_step;
      c.check(n >= 0 && n <= shape[time], "a sequence length is {}, the time axis has extent {}", n,
              shape[time]);
      for (int64_t t = 0; t < n; ++t)
        std::copy_n(from + base + t * time_step, inner, to + base + (n - 1 - t) * time_step);
    }
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  input: T
in  sequence_lens: int64
out Y: T
attr batch_axis: int = 1
attr time_axis: int = 0
type T: @all)",
     infer, eval},
    {28, R"(
in  input: T
in  sequence_lens: int64
out Y: T
attr batch_axis: int = 1
attr time_axis: int = 0
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReverseSequence",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReverseSequence
