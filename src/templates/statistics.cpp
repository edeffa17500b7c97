// Counts of built graphs: parameters, multiply-accumulates, bytes.
#include "assay/graph.h"
#include "graph/export.h"
#include "ops/infer.h"
#include "ops/multiply_accumulates.h"
#include "ops/node_facts.h"
#include "templates/builder.h"
#include "templates/template_set.h"

namespace assay {
namespace {

int64_t macs(const ModelTemplate& t, const Node& n, const Model& model) {
  const std::optional<int64_t> number = multiply_accumulates(n, find_op(n, model)).number();
  if (!number && t.is_data_dependent) return 0;
  require(number.has_value(), ErrorCode::kInternal, "the shapes at node {} are not known", n.label());
  return *number;
}

/// With those of the bodies of If, Loop and Scan.
int64_t parameters(const Graph& g) {
  int64_t sum = 0;
  for (const auto& v : g.values())
    if (v->is_constant() && v->tensor().dtype() == DType::kFloat32 && is_parameter_name(v->name()))
      sum += v->tensor().numel();
  for (const auto& n : g.nodes())
    for (const Attribute& a : n->attributes)
      if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) sum += parameters(**body);
  return sum;
}

}  // namespace

TemplateStatistics template_statistics(const ModelTemplate& t, const TemplateOptions& options) {
  require(options.batch.has_value(), ErrorCode::kInvalidArgument, "counting needs a batch that is a number");
  TemplateOptions structure = options;
  structure.weights = TemplateWeights::kShapesOnly;
  const std::shared_ptr<Model> model = build_template(t, structure);
  TemplateStatistics s;
  s.file_bytes = static_cast<int64_t>(serialized_size(*model));
  infer_shapes(*model);
  s.parameters = parameters(*model->graph);
  for (const auto& n : model->graph->nodes()) s.macs += macs(t, *n, *model);
  return s;
}

}  // namespace assay
