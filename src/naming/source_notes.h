// Exporters' notes on the origin of nodes: doc strings and metadata, including stack traces of Python.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Removes doc strings and metadata (metadata_props) of all nodes, their attributes and all values, in the
/// main graph, the bodies of control flow and local functions; the metadata of graphs (PyTorch's signature of
/// what it exported), and value_info entries of initializers or missing values. Results do not depend on
/// them, and they are wrong for nodes that passes created or changed. The model and its
/// functions keep their texts; graphs, and the inputs and outputs of the main graph, keep their doc strings.
/// Returns the number of bytes.
int64_t remove_source_notes(Model& model);

}  // namespace assay
