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

/// Of the files in `folder` that the model refers to, those with such bytes, in the order of their names.
/// Zeros between two tensors that bring the second to a boundary are none, nor is the block that this program
/// ends a file with. What cannot be read is left to whoever reads the tensors.
std::vector<OrphanedData> orphaned_data(const onnx::ModelMessage& model, const std::string& folder);

}  // namespace assay::lint
