// Formats of inputs and outputs, as in trtexec's --inputIOFormats and --outputIOFormats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/backend.h"

namespace assay::bench {

/// One of a list: `fp32:chw+chw4`.
struct IoFormat {
  std::string text;
  DType dtype = DType::kUndefined;
  std::vector<std::string> layouts;
};

/// Reads a list that is separated by commas. Throws Error (kInvalidArgument) naming the option for a type or
/// a layout that trtexec does not have.
std::vector<IoFormat> parse_io_formats(std::string_view option, const std::vector<std::string>& words);

/// One format for each tensor, or one for all; none: no request. Throws
/// Error: kInvalidArgument for another number, kUnsupported for formats
/// other than the engine's: row-major (chw), in the model's type.
void check_io_formats(std::string_view option, const std::vector<IoFormat>& formats,
                      const std::vector<TensorInfo>& tensors);

}  // namespace assay::bench
