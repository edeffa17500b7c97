// From Models to ONNX files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

struct ExportOptions {
  /// Write initializers to a file of their own, next to the model.
  bool external_data = false;
  /// File name relative to the model's folder; empty: `<model file>.data`.
  std::string external_data_path;
  /// Smaller tensors stay in the model. Bytes.
  int64_t external_data_threshold = 1024;
  /// One file per tensor, named after it, instead of one file for all.
  bool one_file_per_tensor = false;
};

/// Writes the model: whole or not at all (AtomicFile), equal models to equal bytes; what was read and not
/// changed as it was read. Data that lie in external files beside the new model stay there, unless external
/// data are asked for. Models beyond 2 GB that do not ask for them get them, since no protobuf reader takes
/// such a file. Throws Error: kIo; kInvalidModel when subgraphs nest deeper than onnx::kMaxGraphDepth, which
/// no reader takes either; kInvalidArgument when the replaced model's data file would be left without a
/// model, or a data file that is not its own replaced.
void save_model(const Model& model, const std::string& path, const ExportOptions& options = {});

/// Bytes of tensor data that the file itself would hold, saved at `path` without external data being asked
/// for: data that lie in external files beside it stay there.
size_t inner_data_bytes(const Model& model, const std::string& path);

/// The model as one protobuf message, tensor data included. Throws Error beyond 2 GB.
std::string serialize_model(const Model& model);
/// Bytes of that message, beyond 2 GB too; the data of large tensors are not touched.
size_t serialized_size(const Model& model);

/// A model message whose large initializers are declared external but lie in memory: for a runtime that takes
/// them as tensors, so that weights are never copied. The views hold as long as the model.
struct DetachedModel {
  std::string bytes;
  std::vector<const Value*> detached;
};
DetachedModel detach_initializers(const Model& model, int64_t threshold);

}  // namespace assay
