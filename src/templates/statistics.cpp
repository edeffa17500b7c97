// Counting on built graphs: parameters, multiply-accumulates, bytes.
#include "assay/graph.h"
#include "graph/export.h"
#include "ops/infer.h"
#include "templates/builder.h"
#include "templates/templates.h"

namespace assay {
namespace {

Shape shape_of(const Value& v) {
  std::optional<Shape> shape = v.type.dims ? known_shape(*v.type.dims) : std::nullopt;
  require(shape.has_value(), ErrorCode::kInternal, "the shape of '{}' is not known", v.name());
  return *shape;
}

/// 0 for operators that are not counted.
int64_t macs(const Node& n) {
  if (n.op_type == "Conv") {
    const Shape weights = shape_of(*n.input(1));
    return shape_of(*n.output(0)).numel() * weights.numel(1, weights.size());
  }
  if (n.op_type == "ConvTranspose") {
    const Shape weights = shape_of(*n.input(1));
    return shape_of(*n.input(0)).numel() * weights.numel(1, weights.size());
  }
  if (n.op_type == "MatMul") return shape_of(*n.output(0)).numel() * shape_of(*n.input(0)).back();
  if (n.op_type == "Gemm") {
    const Attribute* transposed = n.find_attribute("transA");
    const bool is_transposed = transposed != nullptr && *transposed->get_if<int64_t>() != 0;
    return shape_of(*n.output(0)).numel() * shape_of(*n.input(0))[is_transposed ? 0 : 1];
  }
  if (n.op_type == "LSTM") {
    const Shape x = shape_of(*n.input(0));
    return x[0] * x[1] * (shape_of(*n.input(1)).numel() + shape_of(*n.input(2)).numel());
  }
  return 0;
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
  for (const auto& v : model->graph->values())
    if (v->is_constant() && v->tensor().dtype() == DType::kFloat32 && is_parameter_name(v->name()))
      s.parameters += v->tensor().numel();
  for (const auto& n : model->graph->nodes()) s.macs += macs(*n);
  return s;
}

}  // namespace assay
