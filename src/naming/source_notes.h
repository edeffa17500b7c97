// What exporters note of where nodes come from: doc strings and metadata, stack traces of Python among them.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Removes doc strings and metadata (metadata_props) of all nodes, their attributes and all values, in the
/// main graph, the bodies of control flow and local functions; the metadata of graphs (PyTorch's signature of
/// what it exported), and what value_info says of initializers or of values that are not there. Results do
/// not depend on them, and nodes that passes made or changed are no longer what is noted. The model and its
/// functions keep their texts; graphs, and the inputs and outputs of the main graph, keep their doc strings.
/// Returns the number of bytes.
int64_t remove_source_notes(Model& model);

}  // namespace assay
