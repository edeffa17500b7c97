// From Models to ONNX bytes; files are written by assay/io.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/io.h"

namespace assay {

/// Bytes of tensor data that the file itself would hold, saved at `path` without external data being asked
/// for: data that lie in external files beside it stay there.
size_t inner_data_bytes(const Model& model, const std::string& path);

/// Bytes of serialize_model()'s message, beyond 2 GB too; the data of large tensors are not touched.
size_t serialized_size(const Model& model);

/// A model message whose large initializers are declared external but lie in memory: for a runtime that takes
/// them as tensors, so that weights are never copied. Of these, what nothing uses is left out. The views hold
/// as long as the model.
struct DetachedModel {
  std::string bytes;
  std::vector<const Value*> detached;
};
DetachedModel detach_initializers(const Model& model, int64_t threshold);

}  // namespace assay
