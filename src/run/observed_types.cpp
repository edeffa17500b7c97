#include "run/observed_types.h"

#include "backends/onnxrt_nodes.h"
#include "backends/session_info.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay {

void observe_types(const std::shared_ptr<Model>& model, const DataLoaderOptions& data) {
  const std::shared_ptr<Model> copy = clone_model(*model);
  const TopologicalScope sorted(*copy);
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}});
  std::vector<Tensor> feed;
  for (NamedTensor& t : DataLoader(data).load(0, tensor_infos(copy->graph->inputs), DataLoader::Report::kYes))
    feed.push_back(std::move(t.tensor));
  std::vector<const Value*> wanted;
  for (const Value* v : copy->graph->inputs) wanted.push_back(v);
  for (const auto& n : copy->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr) wanted.push_back(v);
  std::vector<std::pair<std::string, Type>> found;
  Interpreter interpreter(copy, {.precision = ReferencePrecision::kStored, .foreign = onnxrt_nodes(copy)});
  interpreter.run(
      feed,
      [&](const Value& v, std::span<const Tensor> lanes) {
        if (!lanes[0].is_container())
          found.emplace_back(v.name(), Type::tensor(lanes[0].dtype(), lanes[0].shape()));
      },
      wanted);
  for (auto& [name, type] : found) model->graph->find_value(name)->type = std::move(type);
}

}  // namespace assay
