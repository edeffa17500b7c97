#include "ops/contrib/channels_last.h"

#include <algorithm>
#include <numeric>

#include "ops/contrib/standard.h"
#include "ops/tensor/strided_copy.h"

namespace assay {
namespace {

void check_rank(size_t rank) {
  require(rank >= 2, ErrorCode::kInvalidModel, "an image has {} dimensions; it needs batch and channels",
          rank);
}

/// Sees input 0 and output 0 with the channels second.
class TurnedContext final : public ForwardingContext {
 public:
  explicit TurnedContext(InferContext& c) : ForwardingContext(c), image_(c.input_type(0)) {
    if (image_.has_shape()) image_.dims = channels_second(*image_.dims);
  }
  const Type& input_type(size_t i) const override {
    return i == 0 ? image_ : ForwardingContext::input_type(i);
  }
  const Tensor* input_value(size_t i) const override {
    return i == 0 ? nullptr : ForwardingContext::input_value(i);
  }
  const Dims* input_extents(size_t i) const override {
    return i == 0 ? nullptr : ForwardingContext::input_extents(i);
  }
  void set_output_type(size_t i, Type type) override {
    if (i == 0 && type.has_shape()) type.dims = channels_last(*type.dims);
    ForwardingContext::set_output_type(i, std::move(type));
  }

 private:
  Type image_;
};

}  // namespace

Dims channels_second(const Dims& dims) {
  check_rank(dims.size());
  Dims out = dims;
  std::rotate(out.begin() + 1, out.end() - 1, out.end());
  return out;
}

Dims channels_last(const Dims& dims) {
  check_rank(dims.size());
  Dims out = dims;
  std::rotate(out.begin() + 1, out.begin() + 2, out.end());
  return out;
}

Tensor channels_second(const Tensor& image) {
  check_rank(image.shape().size());
  std::vector<size_t> order(image.shape().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return permuted(image, order);
}

Tensor channels_last(const Tensor& image) {
  check_rank(image.shape().size());
  std::vector<size_t> order(image.shape().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return permuted(image, order);
}

void infer_channels_last(InferContext& c, void (*infer)(InferContext&)) {
  TurnedContext turned(c);
  infer(turned);
}

bool has_channels_last(const OpContext& c) { return c.attr_int("channels_last") != 0; }

}  // namespace assay
