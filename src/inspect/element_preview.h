// The first and last elements of a tensor, for a page that shows a model.
#pragma once

#include <string>
#include <string_view>

#include "assay/unaligned_tensor.h"
#include "base/json_writer.h"

namespace assay {

/// A text of at most 140 characters; of a longer one the first 137 and `…`.
std::string shortened(std::string_view text);

/// Writes {values, total, truncated}: all elements of a tensor of up to 16, else the first and the last
/// eight, and `split`, the number of leading ones. Only the bytes of these elements are read. Real numbers,
/// integers and booleans are JSON's; integers beyond 2^53, which JavaScript would round, complex
/// numbers and strings (shortened) are strings.
void write_preview(JsonWriter& json, const UnalignedTensor& tensor);

}  // namespace assay
