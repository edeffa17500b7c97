#include "naming/source_notes.h"

#include <unordered_set>

#include "assay/edit.h"
#include "onnx/messages.h"
#include "onnx/writer.h"

namespace assay {
namespace {

class Remover {
 public:
  explicit Remover(const Graph& main) {
    for (const std::vector<Value*>* list : {&main.inputs, &main.outputs})
      described_.insert(list->begin(), list->end());
  }

  void remove_from(Graph& g) {
    for (const auto& n : g.nodes()) {
      drop(n->doc_string);
      drop(n->metadata);
      for (Attribute& a : n->attributes) drop(a.doc_string);
    }
    for (const auto& v : g.values()) {
      drop(v->metadata);
      if (!described_.contains(v.get())) drop(v->doc_string);
    }
    drop(g.metadata);
    drop_entries_of_constants(g);
    for (Graph* sub : subgraphs(g)) remove_from(*sub);
  }

  int64_t bytes() const { return bytes_; }

 private:
  void drop(std::string& text) {
    bytes_ += static_cast<int64_t>(text.size());
    text.clear();
  }
  void drop(Metadata& metadata) {
    for (const auto& [key, text] : metadata) bytes_ += static_cast<int64_t>(key.size() + text.size());
    metadata.clear();
  }
  /// value_info entries of initializers are redundant or add notes; entries that do not follow from values
  /// are among the fields kept as they were read.
  void drop_entries_of_constants(Graph& g) {
    std::erase_if(g.value_info_order, [](const Value* v) { return v->is_constant() && !v->is_overridable; });
    if (g.extra_fields.empty()) return;
    std::string model;
    onnx::add_field(7, g.extra_fields, model);
    std::string rest = onnx::read_model(model).graph.extra;
    bytes_ += static_cast<int64_t>(g.extra_fields.size() - rest.size());
    g.extra_fields = std::move(rest);
  }

  std::unordered_set<const Value*> described_;  ///< doc strings of inputs and outputs are for users
  int64_t bytes_ = 0;
};

}  // namespace

int64_t remove_source_notes(Model& model) {
  Remover remover(*model.graph);
  remover.remove_from(*model.graph);
  for (Function& f : model.functions) remover.remove_from(*f.body);
  return remover.bytes();
}

}  // namespace assay
