#include "lint/single_nodes.h"

#include <unordered_map>

#include "graph/clone.h"
#include "graph/order.h"

namespace assay::lint {
namespace {

/// What the backend puts before every message of ONNX Runtime.
constexpr std::string_view kPrefix = "ONNX Runtime: ";

/// The backend's own words. Whatever is not the model's fault (an unknown provider, a broken promise of ours)
/// is thrown on.
std::string message_of(const Error& e) {
  if (e.code() != ErrorCode::kUnsupported && e.code() != ErrorCode::kInvalidModel) throw e;
  const std::string_view message = e.message();
  return std::string(message.starts_with(kPrefix) ? message.substr(kPrefix.size()) : message);
}

/// True for what ONNX Runtime says of operators that it does not have: upstream only warns of them.
bool is_unknown_operator(std::string_view message) {
  return message.find("No opset import for domain") != std::string_view::npos ||
         message.find("is not a registered function/op") != std::string_view::npos;
}

/// The type under which a value is fed.
Type type_of(const Value& v, const Tensor& t) {
  return t.is_container() ? v.type : Type::tensor(t.dtype(), t.shape());
}

class NodeRunner {
 public:
  NodeRunner(const Model& model, const Backend& backend, const SessionOptions& options, Report& report)
      : model_(model), backend_(backend), options_(options), report_(report), single_(clone_model(model)) {}
  void run(const TensorList& feed);

 private:
  void node(const Node& n);
  void build(const Node& n, const std::vector<Value*>& used);
  void release(const std::vector<Value*>& used);

  const Model& model_;
  const Backend& backend_;
  const SessionOptions& options_;
  Report& report_;
  std::shared_ptr<Model> single_;  // its functions and opsets stay, its graph changes
  std::vector<Tensor> feed_;       // for the inputs of single_
  std::unordered_map<const Value*, Tensor> values_;
  std::unordered_map<const Value*, size_t> uses_;
};

/// Makes single_ a model of this node alone, and feed_ its inputs.
void NodeRunner::build(const Node& n, const std::vector<Value*>& used) {
  single_->graph = std::make_unique<Graph>();
  feed_.clear();
  Graph& g = *single_->graph;
  g.name = n.name;
  ValueMap map;
  for (const Value* v : used) {
    if (v->is_constant()) {
      map[v] = clone_value(*v, g);
      continue;
    }
    const Tensor& t = values_.at(v);
    map[v] = g.add_input(v->name(), type_of(*v, t));
    feed_.push_back(t);
  }
  const Node* copy = clone_node(n, g, map);
  for (Value* v : copy->outputs())
    if (v != nullptr) g.outputs.push_back(v);
}

/// Forgets the values that no later node wants.
void NodeRunner::release(const std::vector<Value*>& used) {
  for (const Value* v : used)
    if (const auto it = uses_.find(v); it != uses_.end() && --it->second == 0) values_.erase(v);
}

void NodeRunner::node(const Node& n) {
  const std::vector<Value*> used = used_values(n);
  bool is_ready = true;
  for (const Value* v : used) is_ready = is_ready && (v->is_constant() || values_.contains(v));
  if (is_ready) {
    const Place place{n.name, n.op_type, {}};
    try {
      build(n, used);
      const auto session = backend_.open({.model = single_, .path = ""}, options_);
      std::vector<const Value*> outputs;
      for (const Value* v : n.outputs())
        if (v != nullptr) outputs.push_back(v);
      session->run(feed_, [&](size_t i, Tensor t) {
        if (uses_.contains(outputs.at(i))) values_[outputs[i]] = std::move(t);
      });
      report_.add_passing(n.name);
    } catch (const Error& e) {
      const std::string message = message_of(e);
      const bool is_unknown = is_unknown_operator(message);
      report_.add(is_unknown ? kRuntimeUnknown : kRuntimeError, place, pruned_message(message));
      if (is_unknown) report_.add_passing(n.name);
    }
  }
  release(used);
}

void NodeRunner::run(const TensorList& feed) {
  for (const auto& n : model_.graph->nodes())
    for (const Value* v : used_values(*n)) ++uses_[v];
  for (const NamedTensor& t : feed)
    if (const Value* v = model_.graph->find_value(t.name)) values_[v] = t.tensor;
  for (const auto& n : model_.graph->nodes()) node(*n);
}

void erase_all(std::string& text, std::string_view word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.erase(at, word.size());
}

/// Erases up to the end of the last `word`, if the text holds one at or after `from`.
void erase_through_last(std::string& text, std::string_view word, size_t from = 0) {
  const size_t at = text.rfind(word);
  if (at != std::string::npos && at >= from) text.erase(0, at + word.size());
}

/// `/path/file.cc:12 onnxruntime::Function(arguments)` at the beginning, up to the last parenthesis.
void erase_source_place(std::string& text) {
  const size_t file = text.find(".cc:");
  const size_t slash = text.find('/');
  if (file == std::string::npos || slash == std::string::npos || slash > file) return;
  const size_t after = text.find_first_not_of("0123456789", file + 4);
  if (after == file + 4 || after == std::string::npos) return;
  if (text.compare(after, 14, " onnxruntime::") != 0 || text.find('(', after) == std::string::npos) return;
  erase_through_last(text, ")", after);
}

}  // namespace

std::string pruned_message(std::string_view message) {
  std::string text(message);
  erase_all(text, " : ");
  for (char& c : text)
    if (c == '"') c = '`';
  for (const std::string_view word :
       {"This is an invalid model. ", "Error: ", "Failed to load model with error: ", "Exception caught: ",
        "Exception during loading: ", "\n"})
    erase_all(text, word);
  if (text.starts_with("Node (") && text.find(") Op (") != std::string::npos)
    erase_through_last(text, ") [ShapeInferenceError]");
  erase_source_place(text);
  if (text.starts_with("In Node, ")) erase_through_last(text, ", Error ", 8);
  erase_through_last(text, "Status Message: ");
  return text;
}

std::string run_whole(const std::shared_ptr<const Model>& model, const Backend& backend,
                      const SessionOptions& options, const TensorList& feed) {
  try {
    const auto session = backend.open({.model = model, .path = ""}, options);
    std::vector<Tensor> tensors;
    for (const TensorInfo& input : session->inputs()) {
      const Tensor* t = find(feed, input.name);
      require(t != nullptr, ErrorCode::kUnsupported, "there are no data for the input '{}'", input.name);
      tensors.push_back(*t);
    }
    session->run(tensors, [](size_t, Tensor) {});
    return {};
  } catch (const Error& e) {
    return message_of(e);
  }
}

void run_single_nodes(const Model& model, const Backend& backend, const SessionOptions& options,
                      const TensorList& feed, Report& report) {
  NodeRunner(model, backend, options, report).run(feed);
}

}  // namespace assay::lint
