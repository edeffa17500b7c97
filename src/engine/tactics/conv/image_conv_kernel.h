// Steps of the tactic image_conv: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/channel_window/image_conv.h"

namespace assay::engine::tactic_image_conv {

using kernels::ImageConv;

struct StepFields {
  int64_t threads = 1;  ///< that the step is cut for

  void fields(FieldVisitor& visit) { visit("threads", threads, {1, kMaxThreads}); }
};

inline ImageConv image_conv(const ConvProduct& conv, Layout layout) {
  ImageConv image{.window = channel_window(conv.window, conv.size.n, layout), .planes = conv.in_channels};
  image.window.pixel = 1;
  image.window.row = image.window.in_columns;
  image.window.block = image.window.in_rows * image.window.in_columns;
  return image;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_image_conv
