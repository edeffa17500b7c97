// ModelProto of a Model.
#pragma once

#include <set>
#include <string>

#include "assay/graph.h"
#include "onnx/writer.h"

namespace assay {

/// Where an external initializer's data are, in the words of TensorProto.external_data.
struct DataPlace {
  std::string location;
  size_t offset = 0, length = 0;
  std::string checksum;  ///< of the whole file; empty: none is written
};

/// Decides which initializers become external and puts their data somewhere.
class DataPlacer {
 public:
  virtual ~DataPlacer() = default;
  virtual bool takes(const Value& initializer) const = 0;
  virtual DataPlace add(const Value& initializer) = 0;
  /// Whether the initializer, which takes() holds for, is not written at all.
  virtual bool drops(const Value&) const { return false; }
};

struct MessageOptions {
  DataPlacer* placer = nullptr;  ///< null: data stay inside
  /// Tensors that were read from external data go on referring to them, unless the placer takes them.
  bool keep_references = false;
  /// Not null: collects the locations that are referred to.
  std::set<std::string>* locations = nullptr;
};

/// What was read and not changed is written as it was: encodings, unknown fields, orders. Tensor data are
/// borrowed from the model. Throws Error (kInvalidArgument) that names an initializer without data.
onnx::MessageWriter model_message(const Model& model, const MessageOptions& options);

/// The model's IR version, or 4 when that is older and there are new initializers: before, each had to be an
/// input, too. Files that were read with such are written as they were.
int64_t written_ir_version(const Model& model);

}  // namespace assay
