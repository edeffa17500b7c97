// A temporary file of a model in memory, for readers of files.
#pragma once

#include <string>

#include "assay/graph.h"
#include "base/descriptor.h"

namespace assay::script {

/// An ONNX file, with its external data where it has any, in a separate folder in the directory for temporary
/// files; removed by the destructor. Leftovers of a killed process are removed by the next object.
class TemporaryModel {
 public:
  /// Throws Error (kIo) when it cannot be written.
  explicit TemporaryModel(const Model& model);
  ~TemporaryModel();
  TemporaryModel(const TemporaryModel&) = delete;
  TemporaryModel& operator=(const TemporaryModel&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
  Descriptor lock_;  ///< tells others that the folder is in use
};

}  // namespace assay::script
