// Positions in errors about a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::onnx {

/// Throws Error (kInvalidModel) with the message, the line and column of the byte at `at`, and the line
/// itself or, if it is long, the part around the position.
[[noreturn]] void fail_in_text(std::string_view text, size_t at, const std::string& message);

}  // namespace assay::onnx
