// A model that exists in memory only, as a file for whoever reads files.
#pragma once

#include <string>

#include "assay/graph.h"
#include "base/descriptor.h"

namespace assay::script {

/// An ONNX file, with its external data where it has any, in a folder of its own in the directory for
/// temporary files; gone with the object. What a killed process leaves there, the next object removes.
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
