// Pools with a sliding window: shared by MaxPool, AveragePool and LpPool.
#pragma once

#include "kernels/conv.h"
#include "ops/eval_util.h"
#include "ops/op_context.h"

namespace assay {

/// Output 0 has input 0's type and the pooled shape. Throws Error when a rule is broken.
void infer_pool(InferContext& c);
/// The pooled shape of an input [N, C, spatial...].
Dims pooled_dims(const InferContext& c, const Dims& in);

struct PoolPlan {
  kernels::Window window;
  Shape output;
  int64_t planes;  ///< batch * channels
};
PoolPlan plan_pool(const EvalContext& c);

/// The taps of a window that are in the image, for one output position of a plane after the other.
class WindowTaps {
 public:
  explicit WindowTaps(const kernels::Window& w);

  /// Moves to the next position in row-major order, after the last to the first. A new object is at the
  /// first.
  void next();
  /// Taps inside the image.
  int64_t count() const { return count_; }
  /// Taps inside the image with its padding.
  int64_t count_with_padding() const;
  /// Calls f(offset) for each tap inside the image, in row-major order; offset counts elements of the plane.
  template <typename F>
  void for_each(F f) {
    if (count_ == 0) return;
    const size_t last = size_.size() - 1;
    const int64_t run = size_[last], step = step_[last];
    std::fill(at_.begin(), at_.end(), 0);
    for (int64_t offset = first_;;) {
      for (int64_t i = 0; i < run; ++i) f(offset + i * step);
      for (size_t d = last;; --d) {
        if (d == 0) return;
        offset += step_[d - 1];
        if (++at_[d - 1] < size_[d - 1]) break;
        offset -= step_[d - 1] * size_[d - 1];
        at_[d - 1] = 0;
      }
    }
  }

 private:
  /// An axis's part for one output coordinate.
  struct Inside {
    int64_t offset;        ///< of the first tap inside the image
    int64_t count;         ///< taps inside
    int64_t count_padded;  ///< taps inside the padded image
  };
  void place();

  std::vector<std::vector<Inside>> inside_;  ///< for each axis and output coordinate
  std::vector<int64_t> position_;            ///< output coordinates
  std::vector<int64_t> size_;                ///< taps inside along each axis
  std::vector<int64_t> step_;                ///< elements from one tap to the next along each axis
  std::vector<int64_t> at_;
  int64_t first_ = 0, count_ = 0;
};

/// Calls f(plane, position within the plane, taps) for every output element, in parallel over the planes.
template <typename F>
void for_each_window(const PoolPlan& plan, F f) {
  const int64_t size = plan.window.out_size();
  parallel_for(plan.planes, 1, [&](int64_t first, int64_t last) {
    WindowTaps taps(plan.window);
    for (int64_t plane = first; plane < last; ++plane)
      for (int64_t position = 0; position < size; ++position, taps.next()) f(plane, position, taps);
  });
}

}  // namespace assay
