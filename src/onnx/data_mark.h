// The last block of an external data file that this
// program wrote: it identifies a model's own data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/sha1.h"

namespace assay::onnx {

/// The mark for a file of these bytes, whose number is a multiple of Sha1::kBlock. With it, the file's SHA-1
/// is `checksum` of TensorProto.external_data.
///
///     "assay data file\n", the number of bytes before, the five words of SHA-1's state after them, zeros
///
/// so that the checksum of a gigabyte is known without reading it.
std::string data_mark(const Sha1& bytes);

/// The checksum of a file with the bytes `file`, from its mark; nothing for a file without a mark.
std::optional<std::string> marked_checksum(std::string_view file);

}  // namespace assay::onnx
