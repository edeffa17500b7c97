// The last block of a file of external data that this program wrote: by it a model knows its data from
// others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/sha1.h"

namespace assay::onnx {

/// The block for a file of these bytes; their number is a multiple of Sha1::kBlock. With it, the file's SHA-1
/// is `checksum` of TensorProto.external_data.
///
///     "assay data file\n", the number of bytes before, the five words of SHA-1's state after them, zeros
///
/// so that whoever opens the file can tell the checksum of a gigabyte without reading it.
std::string data_mark(const Sha1& bytes);

/// The checksum of a file whose bytes are `file`, as its mark tells it; nothing for a file without a mark.
std::optional<std::string> marked_checksum(std::string_view file);

}  // namespace assay::onnx
