#include "inspect/input_shapes.h"

#include <fnmatch.h>

#include "assay/edit.h"

namespace assay {
namespace {

void forget_computed_shapes(Graph& g) {
  for (const auto& v : g.values())
    if (v->producer() != nullptr) v->type.dims.reset();
}

}  // namespace

void set_input_shape(Model& model, const std::string& pattern, const Dims& dims) {
  std::string names;
  bool found = false;
  for (Value* v : model.graph->inputs) {
    names += (names.empty() ? "'" : ", '") + v->name() + "'";
    if (v->name() != pattern && fnmatch(pattern.c_str(), v->name().c_str(), 0) != 0) continue;
    require(!v->type.has_shape() || v->type.dims->size() == dims.size(), ErrorCode::kInvalidArgument,
            "the input '{}' has {} dimensions, not {}", v->name(),
            v->type.has_shape() ? v->type.dims->size() : 0, dims.size());
    v->type.dims = dims;
    found = true;
  }
  require(found, ErrorCode::kNotFound, "the model has no input '{}'; its inputs are {}", pattern, names);
  forget_computed_shapes(*model.graph);
  for (Graph* sub : subgraphs(*model.graph, /*recursive=*/true)) forget_computed_shapes(*sub);
}

}  // namespace assay
