#include "surgeon/contradiction.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "graph/clone.h"
#include "graph/topological_scope.h"
#include "ops/infer.h"

namespace assay {
namespace {

/// The error of inference; empty when there is none.
std::string first_problem(const Model& model) {
  const std::shared_ptr<Model> copy = clone_model(model);
  try {
    const TopologicalScope sorted(*copy);
    infer_shapes(*copy);
  } catch (const Error& e) {
    return e.what();
  }
  for (size_t i = 0; i < model.graph->outputs.size(); ++i) {
    const Value& declared = *model.graph->outputs[i];
    const Type& found = copy->graph->outputs[i]->type;
    if (declared.producer() != nullptr && declared.type.is_tensor() && found.is_tensor() &&
        declared.type.dtype != DType::kUndefined && declared.type.dtype != found.dtype)
      return fmt::format("the output '{}' is to be {}, but node {} gives {}", declared.name(),
                         dtype_name(declared.type.dtype), declared.producer()->label(),
                         dtype_name(found.dtype));
  }
  return {};
}

}  // namespace

void require_possible(const Model& before, const Model& after, const std::string& given) {
  const std::string problem = first_problem(after);
  if (problem.empty() || !first_problem(before).empty()) return;
  Error e(ErrorCode::kInvalidArgument, fmt::format("{} contradict the graph: {}", given, problem));
  e.set_remedy("Give what that node can take, or leave it to inference.");
  throw e;
}

}  // namespace assay
