#include "ops/nn/pool.h"

#include "ops/nn/window.h"

namespace assay {

Dims pooled_dims(const InferContext& c, const Dims& in) {
  c.check(in.size() >= 3, "the input has {} dimensions; it needs batch, channels and at least one more",
          in.size());
  const WindowAttributes window = read_window(c, in.size() - 2);
  c.check(!window.kernel.empty(), "the required attribute 'kernel_shape' is missing");
  Dims out = {in[0], in[1]};
  for (const Dim& d : window.output_extents(spatial_dims(in))) out.push_back(d);
  return out;
}

void infer_pool(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  c.set_output(0, c.input_dtype(0), pooled_dims(c, *in));
}

PoolPlan plan_pool(const EvalContext& c) {
  const Shape& in = c.shape(0);
  c.check(in.size() >= 3, "the input has shape {}; it needs batch, channels and at least one more", in.str());
  const WindowAttributes window = read_window(c, in.size() - 2);
  c.check(!window.kernel.empty(), "the required attribute 'kernel_shape' is missing");
  PoolPlan plan{.window = window.over(spatial_shape(in)), .output = {in[0], in[1]}, .planes = in[0] * in[1]};
  for (const int64_t extent : plan.window.out) plan.output.push_back(extent);
  return plan;
}

WindowTaps::WindowTaps(const kernels::Window& w)
    : inside_(w.rank()), position_(w.rank()), size_(w.rank()), step_(w.rank()), at_(w.rank()) {
  const std::vector<int64_t> strides = Shape(w.in).strides();
  for (size_t d = 0; d < w.rank(); ++d) {
    step_[d] = w.dilations[d] * strides[d];
    for (int64_t o = 0; o < w.out[d]; ++o) {
      const int64_t padded = o * w.strides[d], corner = padded - w.begin[d];
      const kernels::Range in = kernels::positions_inside(w.in[d], w.kernel[d], w.dilations[d], corner);
      const kernels::Range in_padded =
          kernels::positions_inside(w.begin[d] + w.in[d] + w.end[d], w.kernel[d], w.dilations[d], padded);
      inside_[d].push_back({.offset = (corner + in.first * w.dilations[d]) * strides[d],
                            .count = in.last - in.first,
                            .count_padded = in_padded.last - in_padded.first});
    }
  }
  if (w.out_size() > 0) place();
}

void WindowTaps::place() {
  first_ = 0;
  count_ = 1;
  for (size_t d = 0; d < size_.size(); ++d) {
    const Inside& in = inside_[d][static_cast<size_t>(position_[d])];
    first_ += in.offset;
    count_ *= in.count;
    size_[d] = in.count;
  }
}

void WindowTaps::next() {
  for (size_t d = position_.size(); d-- > 0;) {
    if (++position_[d] < static_cast<int64_t>(inside_[d].size())) break;
    position_[d] = 0;
  }
  place();
}

int64_t WindowTaps::count_with_padding() const {
  int64_t count = 1;
  for (size_t d = 0; d < size_.size(); ++d)
    count *= inside_[d][static_cast<size_t>(position_[d])].count_padded;
  return count;
}

}  // namespace assay
