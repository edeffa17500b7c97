// Serializes Models to ONNX bytes; assay/io.h writes files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/io.h"

namespace assay {

/// Bytes of tensor data within the file itself if it is saved at `path` without requesting external data:
/// data in external files next to it stay there.
size_t inner_data_bytes(const Model& model, const std::string& path);

/// Bytes of serialize_model()'s message, beyond 2 GB too; the data of large tensors are not touched.
size_t serialized_size(const Model& model);

/// A model message whose large initializers are declared external but are in memory: for a runtime that
/// accepts them as tensors, so that weights are never copied. Unused ones are omitted. The views are valid as
/// long as the model.
struct DetachedModel {
  std::string bytes;
  std::vector<const Value*> detached;
};
DetachedModel detach_initializers(const Model& model, int64_t threshold);

}  // namespace assay
