// What exporters note of where nodes come from: doc strings and metadata, stack traces of Python among them.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Removes doc strings and metadata (metadata_props) of all nodes and their attributes, in the main graph, the bodies of
/// control flow and local functions, and of all values but the inputs and outputs of the main graph. Results do not
/// depend on them, and nodes that passes made or changed are no longer what is noted. Model, graphs and functions keep
/// theirs. Returns the number of bytes of text.
int64_t remove_source_notes(Model& model);

}  // namespace assay
