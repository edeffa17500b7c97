// Attributes of ONNX's text form: axis: int = 1, body: graph = loop (int64 i) => () {}, alpha: float =
// @alpha.
#pragma once

#include <functional>
#include <string>

#include "onnx/text/lexer.h"
#include "onnx/text/tensors.h"
#include "onnx/writer.h"

namespace assay::onnx {

/// Reads a graph at the next word; the reader of whole models gives it, since graphs hold attributes.
using GraphReader = std::function<MessageWriter()>;

/// What follows an attribute's name: an optional type after `:`, and the value after `=`. Gives the
/// AttributeProto. `notes` are those that stood before the name.
MessageWriter read_attribute(Lexer& lexer, const std::string& name, const Notes& notes,
                             const GraphReader& graph);

/// The annotations that an attribute can have; before its name.
Notes claim_attribute_notes(Lexer& lexer);

}  // namespace assay::onnx
