// Chooses the outputs of a model.
#pragma once

#include <span>
#include <string>

#include "assay/graph.h"

namespace assay {

/// Makes the named tensors (results of nodes, or inputs) the outputs, in the order given, each once. Outputs
/// without a type get the inferred one, if any; other values keep theirs. Names may be any spec of
/// naming/selector.h; a pattern (`*`, `?`, `[`) matches only results of nodes, with a warning if there are
/// none; a tensor in the body of a Loop, Scan or If is exposed by expose_value(). Throws
/// Error (kNotFound) that names the tensors that do not exist and similar names that do, and when nothing is
/// left.
void mark_outputs(Model& model, std::span<const std::string> names);

/// Makes every result of every node of the main graph an output, in node
/// order, except those of Constant nodes. Types as with mark_outputs().
/// Values in bodies of control flow are not marked, with a warning.
void mark_all_outputs(Model& model);

/// Makes the results of all nodes of the main graph with one of these operators the outputs, in node order;
/// adds them to the existing ones if `add`. Ignores case. Logs an error for an operator that no node has,
/// with suggestions. Throws Error (kNotFound) when no node has any.
void mark_outputs_by_type(Model& model, std::span<const std::string> op_types, bool add);

/// Removes the named tensors from the outputs. Same errors as mark_outputs(); a warning for a name that
/// exists but is not an output.
void unmark_outputs(Model& model, std::span<const std::string> names);

}  // namespace assay
