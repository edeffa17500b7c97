// Attributes of ONNX's text form: axis: int = 1, body: graph = loop (int64 i) => () {}, alpha: float =
// @alpha.
#pragma once

#include <functional>
#include <string>

#include "onnx/text/lexer.h"
#include "onnx/text/tensors.h"
#include "onnx/writer.h"

namespace assay::onnx {

/// Reads a graph at the next word; supplied by the reader of whole models, since graphs contain attributes.
using GraphReader = std::function<MessageWriter()>;

/// Reads the rest of an attribute after its name: an optional type after `:`, and the value after `=`.
/// Returns the AttributeProto. `notes` are those before the name.
MessageWriter read_attribute(Lexer& lexer, const std::string& name, const Notes& notes,
                             const GraphReader& graph);

/// Annotations that may precede an attribute's name.
Notes claim_attribute_notes(Lexer& lexer);

}  // namespace assay::onnx
