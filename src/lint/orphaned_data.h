// Bytes of external data files that no tensor of the model refers to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/messages.h"

namespace assay::lint {

struct OrphanedData {
  std::string location;    ///< of the file, as the model names it
  int64_t bytes = 0;       ///< that belong to no tensor
  int64_t file_bytes = 0;  ///< in all
};

/// The files in `folder` that the model refers to and that have such bytes, sorted by name. Zeros that align
/// a tensor do not count, nor does the block with which this program ends a file. Unreadable files are left
/// to the readers of tensors.
std::vector<OrphanedData> orphaned_data(const onnx::ModelMessage& model, const std::string& folder);

}  // namespace assay::lint
