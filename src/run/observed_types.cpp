#include "run/observed_types.h"

#include "backends/onnxrt_nodes.h"
#include "backends/session_info.h"
#include "base/diagnostics.h"
#include "graph/clone.h"
#include "graph/metadata_text.h"
#include "graph/topological_scope.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "reference/interpreter.h"
#include "run/shape_fits.h"

namespace assay {
namespace {

/// The declared type of an input must stay valid.
void require_fitting(const std::vector<TensorInfo>& inputs, std::span<const Tensor> feed) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = inputs[i].type;
    require(feed[i].dtype() == type.dtype && shape_fits(feed[i].shape(), type.dims),
            ErrorCode::kInvalidArgument,
            "the data for input '{}' are of type {} and shape {}, but the model declares {}", inputs[i].name,
            dtype_name(feed[i].dtype()), feed[i].shape().str(), type.str());
  }
}

}  // namespace

void observe_values(const std::shared_ptr<Model>& model, LoaderCache data,
                    const std::function<void(const std::string& name, const Tensor& value)>& observer) {
  const std::shared_ptr<Model> copy = clone_model(*model);
  // The interpreter does not call functions.
  pass_inline_functions::def.run(*copy);
  const TopologicalScope sorted(*copy);
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}});
  const std::vector<TensorInfo> inputs = tensor_infos(copy->graph->inputs);
  data.set_inputs(inputs);
  require(data.size() > 0, ErrorCode::kInvalidArgument, "no iteration has data to evaluate the model on");
  const std::vector<Tensor> feed = data.feed(0);
  MetadataText text;
  require_fitting(inputs, feed);
  for (size_t i = 0; i < inputs.size(); ++i) text.add(inputs[i].name, feed[i].dtype(), feed[i].shape());
  diag::info("Running fallback shape inference using input metadata:\n{}", text.str());
  std::vector<const Value*> wanted;
  for (const Value* v : copy->graph->inputs) wanted.push_back(v);
  for (const auto& n : copy->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr) wanted.push_back(v);
  Interpreter interpreter(copy, {.precision = ReferencePrecision::kStored, .foreign = onnxrt_nodes(copy)});
  interpreter.run(
      feed, [&](const Value& v, std::span<const Tensor> lanes) { observer(v.name(), lanes[0]); }, wanted);
}

void observe_types(const std::shared_ptr<Model>& model, LoaderCache data) {
  std::vector<std::pair<std::string, Type>> found;
  observe_values(model, std::move(data), [&](const std::string& name, const Tensor& value) {
    if (!value.is_container()) found.emplace_back(name, Type::tensor(value.dtype(), value.shape()));
  });
  for (auto& [name, type] : found)
    if (Value* v = model->graph->find_value(name)) v->type = std::move(type);
}

}  // namespace assay
