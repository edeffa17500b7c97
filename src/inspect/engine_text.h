// An engine as Polygraphy's `inspect model` prints one.
#pragma once

#include <string>

#include "assay/runtime.h"

namespace assay {

struct EngineTextOptions {
  bool layers = false;
  bool attrs = false;  ///< with `layers`: the ONNX nodes that a layer stands for, and its tactic
};

/// Name, inputs, outputs, memory, profiles and the number of layers; with options the layers themselves: those of the first profile's plan.
std::string engine_text(const Engine& engine, const EngineTextOptions& options);

}  // namespace assay
