#include "backends/onnxrt_nodes.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "assay/backend.h"
#include "backends/backend_list.h"
#include "base/article.h"
#include "base/diagnostics.h"
#include "graph/clone.h"
#include "graph/read.h"

namespace assay {
namespace {

/// It has no ONNX operators that this build lacks,
/// except those that were experimental until opset 9.
bool is_experimental(const Node& node, const Model& model) {
  for (const char* op : {"Affine", "Crop", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"})
    if (node.op_type == op) return node.domain.empty() && model.opset() <= 9;
  return false;
}

class OnnxrtNodes final : public ForeignNodes {
 public:
  explicit OnnxrtNodes(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  bool takes(const Node& node) override {
    const bool is_standard = node.domain.empty() || node.domain == "ai.onnx" || node.domain == "ai.onnx.ml";
    if (is_standard && !is_experimental(node, *model_)) return false;
    if (has_subgraph(node) || model_->opset(node.domain) == 0) return false;
    // The library is not loaded before it is needed.
    if (!is_usable_) is_usable_ = backend_onnxrt::def.probe({}).empty();
    return *is_usable_;
  }

  std::vector<Tensor> evaluate(const Node& node, const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> feed;
    std::string key = fmt::format("{}", static_cast<const void*>(&node));
    for (const Tensor& t : inputs) {
      key += fmt::format(" {}:{}", static_cast<int>(t.dtype()), t.defined() ? t.rank() : -1);
      if (t.defined()) feed.push_back(t);
    }
    std::unique_ptr<Session>& session = sessions_[key];
    if (session == nullptr) session = open(node, inputs);
    std::vector<Tensor> outputs(node.outputs().size());
    std::vector<size_t> slots;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (node.output(i) != nullptr) slots.push_back(i);
    session->run(feed, [&](size_t i, Tensor t) { outputs[slots[i]] = std::move(t); });
    return outputs;
  }

 private:
  std::unique_ptr<Session> open(const Node& node, const std::vector<Tensor>& inputs) const {
    const std::string_view domain = node.domain.empty() ? "ai.onnx" : std::string_view(node.domain);
    const std::shared_ptr<Model> model = alone(node, inputs);
    std::unique_ptr<Session> session;
    try {
      session = backend_onnxrt::def.open({.model = model, .path = {}}, {});
    } catch (const Error& e) {
      throw UnknownOperator(
          fmt::format("the operator {} of domain '{}' is unknown, and ONNX Runtime says: {}", node.op_type,
                      domain, e.message()));
    }
    diag::once(diag::Severity::kWarning,
               "The operator {} of domain '{}' is unknown: ONNX Runtime evaluates its nodes, so nothing is "
               "said of them, only of what lies around them.",
               node.op_type, domain);
    return session;
  }
  /// A model of the node and inputs of these types; their shapes are left open.
  std::shared_ptr<Model> alone(const Node& node, const std::vector<Tensor>& inputs) const {
    auto m = std::make_shared<Model>(scope_of(*model_, model_->opsets));
    Graph& g = *m->graph;
    g.name = "node";
    std::vector<Value*> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      require(!inputs[i].is_container(), ErrorCode::kUnsupported,
              "{} cannot be handed to an unknown operator", with_article(dtype_name(inputs[i].dtype())));
      Type type;
      type.kind = Type::Kind::kTensor;
      type.dtype = inputs[i].dtype();
      type.dims = Dims(static_cast<size_t>(inputs[i].rank()));
      in.push_back(inputs[i].defined() ? g.add_input(fmt::format("x{}", i), std::move(type)) : nullptr);
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      out.push_back(node.output(i) != nullptr ? g.add_value(fmt::format("y{}", i)) : nullptr);
      if (out.back() == nullptr) continue;
      out.back()->type = node.output(i)->type;
      out.back()->type.dims.reset();
      g.outputs.push_back(out.back());
    }
    Node* copy = g.add_node(node.op_type, in, out, {}, node.name, node.domain);
    copy->attributes = node.attributes;
    return m;
  }

  std::shared_ptr<const Model> model_;
  std::optional<bool> is_usable_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
};

}  // namespace

std::shared_ptr<ForeignNodes> onnxrt_nodes(std::shared_ptr<const Model> model) {
  return std::make_shared<OnnxrtNodes>(std::move(model));
}

}  // namespace assay
