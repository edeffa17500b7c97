// Where in a text something is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::onnx {

/// Throws Error (kInvalidModel) with the message, the line and column of the byte at `at`, and the line
/// itself or, of a long one, what lies around the place.
[[noreturn]] void fail_in_text(std::string_view text, size_t at, const std::string& message);

}  // namespace assay::onnx
