// Saving a model as the options of a command line say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/graph.h"

namespace assay {

struct ModelSaveOptions {
  std::string path;  ///< empty: the model is not saved
  /// Where its external data go: nothing leaves those that lie beside the new file where they are and puts
  /// all others into the model, "" uses the default name.
  std::optional<std::string> external_data_path;
  std::optional<int64_t> external_data_threshold;  ///< bytes; smaller tensors stay in the model
  bool one_file_per_tensor = false;
};

/// Logs what it does, and a warning for options that do nothing. Throws Error as save_model().
void save_onnx_model(const Model& model, const ModelSaveOptions& options);

}  // namespace assay
