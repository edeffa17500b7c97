// Extracts a part of a model as a separate model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// An input or output of the part: its name, and its declared type if it differs from the known one.
struct CutTensor {
  std::string name;
  std::optional<Dims> dims;
  std::optional<DType> dtype;
};

/// Makes the named tensors the inputs and outputs of the graph, in the order given, and removes everything
/// that does not contribute. Producers of inputs are detached, and a constant that becomes an input loses its
/// data. Throws Error: kNotFound for a name that does not exist, kInvalidArgument when the outputs need a
/// tensor that is no longer computed: it names those, their users, and the tensors that would have to be
/// inputs. The model is then partly changed.
void extract(Graph& graph, const std::vector<CutTensor>& inputs, const std::vector<CutTensor>& outputs);

/// Makes the graph (a body of If, Loop or Scan, or of a local function) the main graph of its model; captured
/// tensors become inputs, captured constants are included. Throws Error (kInvalidArgument) when
/// it refers to parameters of a function that have no default.
void make_main_graph(Model& model, Graph& graph);

}  // namespace assay
