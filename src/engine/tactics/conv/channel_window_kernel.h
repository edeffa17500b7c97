// Shared parts of the tactics on windows of single channels: the layout of images, and the division of result
// rows among threads.
#pragma once

#include <algorithm>

#include "base/parallel.h"
#include "engine/plan/plan.h"
#include "engine/tactics/product/tiled_product_kernel.h"
#include "kernels/channel_window/channel_window.h"
#include "kernels/conv.h"

namespace assay::engine {

/// The blocked layout that they know besides channels last.
inline constexpr Layout kChannelBlocks{static_cast<int32_t>(kernels::kChannelBlock)};

/// A window of one or two axes over images of this many channels in kChannelBlocks or channels last.
kernels::ChannelWindow channel_window(const kernels::Window& window, int64_t channels, Layout layout);

/// Inputs of their steps: image, weights and bias, and operands of a common epilogue.
inline constexpr size_t kMaxEndInputs = 6;

/// Reads it back, of a step whose result has this size. Throws Error (kInvalidModel).
CommonEnd read_common_end(const StepReader& r, const ProductSize& size);

/// The rows of all results, in parts of some of them and of some blocks of channels each.
class ChannelRows {
 public:
  /// `rows` of each image's results, this many of them in a part.
  ChannelRows(const kernels::ChannelWindow& window, int64_t images, int64_t rows, int64_t rows_together = 1);

  struct Part {
    int64_t image;         ///< where the image begins
    int64_t result;        ///< where the first row of its result begins
    int64_t row, rows;     ///< the first, and how many
    int64_t first, count;  ///< blocks of channels
  };
  /// Calls body(part) for all of them, shared out among threads in the order of the result's memory: rows
  /// with their blocks, or blocks with their rows.
  template <typename Body>
  void run(Body body) const {
    const int64_t parts = (rows_ + rows_together_ - 1) / rows_together_;
    parallel_for(images_ * parts * groups_, grain_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / (parts * groups_), rest = i % (parts * groups_);
        const int64_t row = (is_blocked_ ? rest % parts : rest / groups_) * rows_together_;
        const int64_t first = (is_blocked_ ? rest / parts : rest % groups_) * together_;
        body(Part{n * image_, n * result_ + row * row_, row, std::min(rows_together_, rows_ - row), first,
                  std::min(together_, blocks_ - first)});
      }
    });
  }

 private:
  bool is_blocked_;
  int64_t images_, rows_, blocks_;
  int64_t image_, result_, row_;  ///< numbers of an image, of its result, and from a row of that to the next
  int64_t rows_together_, together_ = 1, groups_, grain_;
};

}  // namespace assay::engine
