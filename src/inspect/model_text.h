// A model as text, in Polygraphy's layout.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// What model_text() shows beside names, inputs, outputs and counts.
struct ModelTextOptions {
  bool layers = false;  ///< nodes and initializers, with types and shapes
  bool attrs = false;   ///< attributes of nodes (with `layers`) and doc strings of graphs
  bool weights =
      false;  ///< the elements of initializers and, with `layers` and `attrs`, of tensor attributes
};

/// The text below the title `==== ONNX Model ====`, without a line end at its end. Elements are read only
/// with `weights`, and of large tensors only the corners that are shown. Logs a warning for each kind of
/// attribute that has no text, and an error when initializers lack their data.
std::string model_text(const Model& model, const ModelTextOptions& options = {});

/// The first line of that text: `Name: g | ONNX Opset: 17 | Other Opsets: {'my.domain': 1}`.
std::string model_title(const Model& model);

}  // namespace assay
