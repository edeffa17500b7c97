// Cases of single passes: the graph before and after, in short form.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "assay/graph.h"

namespace assay {

/// One graph and the result of one pass.
struct PassCase {
  const char* pass;   ///< its name, after those of passes that run before it
  const char* graph;  ///< in ONNX's text form, from the graph's name on
  /// The nodes afterwards, `Op<attributes>(inputs)`, separated by `; `. Inputs and outputs of the graph have
  /// their names, others the number of the node that computes them (%0; %0.1 for its second output),
  /// constants of up to eight elements their elements, larger ones type and shape. Empty: nothing changes.
  const char* after;
  int64_t opset = 17;
};

/// All cases, for every pass of passes.def at least one that changes something.
std::span<const PassCase> pass_cases();
/// Those among them whose passes work on Loop and Scan.
std::span<const PassCase> loop_pass_cases();
/// Those whose passes lower operators of ONNX Runtime's optimizer and quantizer, or work on quantized values.
std::span<const PassCase> runtime_pass_cases();
/// Those with weights in many elements.
std::span<const PassCase> packed_pass_cases();
/// Those similar to others that a pass changes, but which must not change.
std::span<const PassCase> sound_pass_cases();

/// The case's model, types inferred.
std::shared_ptr<Model> model_of(const PassCase& c);

}  // namespace assay
