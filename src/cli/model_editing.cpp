#include "cli/model_editing.h"

#include "assay/edit.h"
#include "assay/inspect.h"
#include "base/log.h"
#include "cli/options/onnx_model.h"
#include "run/model_saver.h"

namespace assay::cli {

int64_t count_nodes(const Graph& graph) {
  auto n = static_cast<int64_t>(graph.nodes().size());
  for (const Graph* sub : subgraphs(graph, /*recursive=*/true))
    n += static_cast<int64_t>(sub->nodes().size());
  return n;
}

int64_t count_nodes(const Model& model) {
  int64_t n = count_nodes(*model.graph);
  for (const Function& f : model.functions) n += count_nodes(*f.body);
  return n;
}

void log_model(const std::string& title, const Model& model) {
  log::info("{}:\n{}\n\n", title, model_text(model));
}

void save_edited_model(const ParsedArgs& args, const Model& model) {
  save_onnx_model(model, read_onnx_save_options(args, kOutputOption));
  log_model("New Model", model);
}

}  // namespace assay::cli
