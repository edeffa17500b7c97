// A part of a model as a model of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// An input or output of the part: its name, and what to declare of it where that is not what is known.
struct CutTensor {
  std::string name;
  std::optional<Dims> dims;
  std::optional<DType> dtype;
};

/// Makes the named tensors the inputs and outputs of the graph, in the order given, and removes all that does
/// not contribute. What computed an input is cut off, and a constant that is made an input loses its data.
/// Throws Error: kNotFound for a name that does not exist, kInvalidArgument when the outputs need a tensor
/// that is no longer computed: it names those, the nodes that use them, and what would have to be an input.
/// The model is then as it was only in part.
void extract(Graph& graph, const std::vector<CutTensor>& inputs, const std::vector<CutTensor>& outputs);

/// Makes the graph (a body of If, Loop or Scan, or of a local function) the main graph of its model; tensors
/// that it takes from outside become inputs of it, constants come along. Throws Error (kInvalidArgument) when
/// it refers to parameters of a function that have no default.
void make_main_graph(Model& model, Graph& graph);

}  // namespace assay
