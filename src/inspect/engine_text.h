// An engine as Polygraphy's `inspect model` prints one.
#pragma once

#include <map>
#include <string>

#include "assay/runtime.h"

namespace assay {

struct EngineTextOptions {
  bool layers = false;
  bool attrs = false;  ///< with `layers`: the ONNX nodes that a layer stands for, and its tactic
  /// By the name of a tensor: what is appended to the description of its format.
  std::map<std::string, std::string> notes = {};
};

/// Name, inputs, outputs, memory, profiles and the number of layers; with options the layers themselves: those of the first profile's plan.
std::string engine_text(const Engine& engine, const EngineTextOptions& options);

}  // namespace assay
