// Saves a model by the options of a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/graph.h"

namespace assay {

struct ModelSaveOptions {
  std::string path;  ///< empty: the model is not saved
  /// File of its external data: nothing keeps external data next to the new file and embeds all others in the
  /// model, "" uses the default name.
  std::optional<std::string> external_data_path;
  std::optional<int64_t> external_data_threshold;  ///< bytes; smaller tensors stay in the model
  bool one_file_per_tensor = false;
};

/// Logs its actions, and a warning for options without effect. Throws Error as save_model().
void save_onnx_model(const Model& model, const ModelSaveOptions& options);

}  // namespace assay
