// A page that shows a model or an engine's plan in a browser: the graph as a picture, and every node's
// attributes, tensors and the ends of its weights. The
// page is self-contained and may not load anything else.
#pragma once

#include <string_view>

#include "assay/graph.h"
#include "assay/runtime.h"
#include "view/page.h"

namespace assay {

/// The page of a model: its main graph, the graphs of If, Loop, Scan and others, and local functions, each
/// once. Nodes are described in the form that Polygraphy's viewer has: docs/guide/viewer.md. `path` is shown.
/// Of weights only the ends are read. Logs a warning for each kind of attribute that has no text.
void write_model_page(const Model& model, std::string_view path, const PageSink& sink);

/// The page of a plan: the layers of every plan in it, with the ONNX nodes that they implement and their
/// tactics.
void write_engine_page(const Engine& engine, std::string_view path, const PageSink& sink);

}  // namespace assay
