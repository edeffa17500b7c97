// ModelProto of a Model.
#pragma once

#include <set>
#include <string>

#include "assay/graph.h"
#include "onnx/writer.h"

namespace assay {

/// The location of an external initializer's data, with the keys of TensorProto.external_data.
struct DataPlace {
  std::string location;
  size_t offset = 0, length = 0;
  std::string checksum;  ///< of the whole file; empty: none is written
};

/// Decides which initializers become external, and places their data.
class DataPlacer {
 public:
  virtual ~DataPlacer() = default;
  virtual bool takes(const Value& initializer) const = 0;
  virtual DataPlace add(const Value& initializer) = 0;
  /// True when an initializer for which takes() holds is omitted.
  virtual bool drops(const Value&) const { return false; }
};

struct MessageOptions {
  DataPlacer* placer = nullptr;  ///< null: data stay inside
  /// Tensors that were read from external data keep their references, unless the placer takes them.
  bool keep_references = false;
  /// Not null: collects the locations that are referred to.
  std::set<std::string>* locations = nullptr;
};

/// Unchanged parts are written as they were read: encodings, unknown fields, orders. Tensor data are
/// borrowed from the model. Throws Error (kInvalidArgument) that names an initializer without data.
onnx::MessageWriter model_message(const Model& model, const MessageOptions& options);

/// The model's IR version, or 4 when that is older and there are new initializers: before, each had to be an
/// input, too. Files that already had such initializers keep their version.
int64_t written_ir_version(const Model& model);

}  // namespace assay
