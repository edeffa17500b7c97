#include "inspect/input_shapes.h"

#include "assay/edit.h"
#include "assay/error.h"
#include "naming/selector.h"

namespace assay {
namespace {

void forget_computed_shapes(Graph& g) {
  for (const auto& v : g.values())
    if (v->producer() != nullptr) v->type.dims.reset();
}

}  // namespace

void set_input_shape(Model& model, const std::string& pattern, const Dims& dims) {
  for (Value* v : select_inputs(model, pattern)) {
    require(!v->type.has_shape() || v->type.dims->size() == dims.size(), ErrorCode::kInvalidArgument,
            "the input '{}' has {} dimensions, not {}", v->name(),
            v->type.has_shape() ? v->type.dims->size() : 0, dims.size());
    v->type.dims = dims;
  }
  forget_computed_shapes(*model.graph);
  for (Graph* sub : subgraphs(*model.graph, /*recursive=*/true)) forget_computed_shapes(*sub);
}

}  // namespace assay
