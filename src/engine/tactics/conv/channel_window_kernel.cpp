#include "engine/tactics/conv/channel_window_kernel.h"

#include <limits>

namespace assay::engine {

namespace {

/// Results of a row, and weights, that stay in the first-level cache; channels that follow each other in
/// memory are best read together, though.
constexpr int64_t kRowBytes = 16 << 10, kWeightBytes = 16 << 10, kMinBlocks = 4;

/// Operations that a thread is worth waking for.
constexpr int64_t kGrain = 64 << 10;

/// A window of one axis is one of two.
template <typename T>
std::vector<T> two_axes(std::vector<T> v, T missing) {
  if (v.size() == 1) v.insert(v.begin(), missing);
  return v;
}

}  // namespace

kernels::ChannelWindow channel_window(const kernels::Window& w, int64_t channels, Layout layout) {
  const auto in = two_axes<int64_t>(w.in, 1), out = two_axes<int64_t>(w.out, 1),
             kernel = two_axes<int64_t>(w.kernel, 1), strides = two_axes<int64_t>(w.strides, 1),
             dilations = two_axes<int64_t>(w.dilations, 1), begin = two_axes<int64_t>(w.begin, 0);
  kernels::ChannelWindow c{.kernel_rows = kernel[0],
                           .kernel_columns = kernel[1],
                           .row_stride = strides[0],
                           .column_stride = strides[1],
                           .row_dilation = dilations[0],
                           .column_dilation = dilations[1],
                           .top = begin[0],
                           .left = begin[1],
                           .in_rows = in[0],
                           .in_columns = in[1],
                           .out_columns = out[1],
                           .channels = channels,
                           .fills_blocks = layout.is_blocked()};
  c.pixel = c.out_pixel = c.fills_blocks ? kernels::kChannelBlock : channels;
  c.row = c.in_columns * c.pixel;
  c.block = c.fills_blocks ? c.in_rows * c.row : kernels::kChannelBlock;
  c.out_block = c.fills_blocks ? out[0] * c.out_columns * c.out_pixel : kernels::kChannelBlock;
  return c;
}

CommonEnd read_common_end(const StepReader& r, const ProductSize& size) {
  const PlanValue& out = r.any_output(0);
  const EpilogueSpec spec = epilogue_spec(r, 3);
  const std::optional<CommonEnd> end = common_epilogue(spec, size.m, size.n);
  StepReader::check(end.has_value(), "what follows its sums is no end that it has");
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0) continue;
    // What is of a whole result of one pixel is of its channels, too.
    const bool fits = same_memory(e.shape, e.format.layout, out.layout) ||
                      (e.position != end->addend && e.format.layout.is_row());
    StepReader::check(fits, "'{}' in {} does not fit its result",
                      r.input(static_cast<size_t>(e.position)).name, e.format.layout.str());
  }
  return *end;
}

ChannelRows::ChannelRows(const kernels::ChannelWindow& window, int64_t images, int64_t rows,
                         int64_t rows_together)
    : is_blocked_(window.fills_blocks),
      images_(images),
      rows_(rows),
      blocks_(window.blocks()),
      row_(window.out_columns * window.out_pixel),
      rows_together_(rows_together) {
  const int64_t stored = is_blocked_ ? blocks_ * kernels::kChannelBlock : window.channels;
  image_ = stored * window.in_rows * window.in_columns;
  result_ = stored * rows * window.out_columns;
  const int64_t block_bytes = kernels::kChannelBlock * int64_t{sizeof(float)};
  if (!is_blocked_)
    together_ = std::clamp(std::min(kRowBytes / (rows_together * window.out_columns * block_bytes),
                                    kWeightBytes / (window.taps() * block_bytes)),
                           std::min(kMinBlocks, blocks_), blocks_);
  groups_ = (blocks_ + together_ - 1) / together_;
  grain_ = std::max<int64_t>(
      1, kGrain / (rows_together * window.out_columns * window.taps() * together_ * kernels::kChannelBlock));
}

}  // namespace assay::engine
