#include "assay/graph.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace assay {

std::string_view Attribute::type_name() const {
  static constexpr std::array<std::string_view, std::variant_size_v<Data>> kNames = {
      "UNDEFINED", "FLOAT", "INT",     "STRING",  "TENSOR", "GRAPH",       "TYPE_PROTO",    "SPARSE_TENSOR",
      "FLOATS",    "INTS",  "STRINGS", "TENSORS", "GRAPHS", "TYPE_PROTOS", "SPARSE_TENSORS"};
  return kNames[data.index()];
}

void Value::rename(std::string name) {
  if (name == name_) return;
  require(graph_->find_value(name) == nullptr, ErrorCode::kInvalidArgument,
          "cannot rename '{}': the graph already has a value named '{}'", name_, name);
  graph_->index_.erase(name_);
  name_ = std::move(name);
  graph_->index_.emplace(name_, this);
}

void Value::set_tensor(UnalignedTensor tensor) {
  require(producer_ == nullptr, ErrorCode::kInvalidArgument,
          "'{}' is produced by a node and cannot become a constant", name_);
  require(!tensor.is_container(), ErrorCode::kInvalidArgument, "'{}' cannot become a constant of type {}",
          name_, dtype_name(tensor.dtype()));
  type = Type::tensor(tensor.dtype(), tensor.shape());
  tensor_ = std::move(tensor);
  tensor_source_ = nullptr;
  is_missing_ = false;
}

namespace {

/// Erases the last entry of a node before a position.
void erase_one(std::vector<Node*>& list, size_t before, const Node* node) {
  const auto end = std::make_reverse_iterator(list.begin() + static_cast<std::ptrdiff_t>(before));
  const auto it = std::find(end, list.rend(), node);
  if (it != list.rend()) list.erase(std::next(it).base());
}

}  // namespace

void Value::remove_consumer(const Node* node) {
  constexpr size_t kFew = 64;
  if (gone_.empty() && consumers_.size() <= kFew) return erase_one(consumers_, consumers_.size(), node);
  gone_.push_back({node, consumers_.size()});
  has_gone_.store(true, std::memory_order_release);
  if (gone_.size() > consumers_.size() / 2) drop_gone();
}

void Value::drop_gone() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (gone_.empty()) return;  // another thread has done it
  if (gone_.size() == 1) {
    erase_one(consumers_, gone_[0].before, gone_[0].node);
  } else {
    // Positions increase, since entries are only added in between; so the largest remaining one decides.
    std::unordered_map<const Node*, std::vector<size_t>> places;
    for (const Gone& g : gone_) places[g.node].push_back(g.before);
    for (size_t i = consumers_.size(); i-- > 0;) {
      const auto it = places.find(consumers_[i]);
      if (it == places.end() || it->second.empty() || it->second.back() <= i) continue;
      it->second.pop_back();
      consumers_[i] = nullptr;
    }
    std::erase(consumers_, nullptr);
  }
  gone_.clear();
  has_gone_.store(false, std::memory_order_release);
}

void Node::set_input(size_t i, Value* v) {
  if (i >= inputs_.size()) inputs_.resize(i + 1, nullptr);
  if (inputs_[i] != nullptr) inputs_[i]->remove_consumer(this);
  inputs_[i] = v;
  if (v != nullptr) v->consumers_.push_back(this);
}

void Node::set_inputs(std::vector<Value*> inputs) {
  for (Value* v : inputs_)
    if (v != nullptr) v->remove_consumer(this);
  inputs_ = std::move(inputs);
  for (Value* v : inputs_)
    if (v != nullptr) v->consumers_.push_back(this);
}

void Node::set_output(size_t i, Value* v) {
  if (v != nullptr && v->producer_ != nullptr && v->producer_ != this)
    fail(ErrorCode::kInvalidModel, "'{}' is produced by two nodes: {} and {}", v->name(),
         v->producer_->label(), label());
  if (v != nullptr && v->is_constant())
    fail(ErrorCode::kInvalidModel, "'{}' is an initializer and the output of node {}", v->name(), label());
  if (i >= outputs_.size()) outputs_.resize(i + 1, nullptr);
  if (outputs_[i] != nullptr) outputs_[i]->producer_ = nullptr;
  outputs_[i] = v;
  if (v != nullptr) v->producer_ = this;
}

void Node::set_outputs(std::vector<Value*> outputs) {
  for (Value*& v : outputs_) {
    if (v != nullptr) v->producer_ = nullptr;
    v = nullptr;
  }
  outputs_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) set_output(i, outputs[i]);
}

const Attribute* Node::find_attribute(std::string_view attribute_name) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute_name) return &a;
  return nullptr;
}

void Node::set_attribute(std::string attribute_name, Attribute::Data data) {
  for (Attribute& a : attributes)
    if (a.name == attribute_name) {
      a.data = std::move(data);
      return;
    }
  attributes.push_back({.name = std::move(attribute_name), .data = std::move(data)});
}

void Node::remove_attribute(std::string_view attribute_name) {
  std::erase_if(attributes, [&](const Attribute& a) { return a.name == attribute_name; });
}

std::string Node::label() const {
  const std::string op = domain.empty() ? op_type : domain + "::" + op_type;
  if (!name.empty()) return "'" + name + "' (" + op + ")";
  for (const Value* v : outputs_)
    if (v != nullptr) return "(" + op + ") producing '" + v->name() + "'";
  return "(" + op + ")";
}

namespace {

/// Moves the subgraphs that a node owns alone to the end of a list.
void take_subgraphs(Node& node, std::vector<std::shared_ptr<Graph>>& list) {
  const auto take = [&](std::shared_ptr<Graph>& g) {
    if (g.use_count() == 1) list.push_back(std::move(g));
  };
  for (Attribute& a : node.attributes) {
    if (auto* g = std::get_if<std::shared_ptr<Graph>>(&a.data)) take(*g);
    if (auto* graphs = std::get_if<Attribute::Graphs>(&a.data))
      for (auto& g : *graphs) take(g);
  }
}

/// The subgraphs that nodes own alone, those inside them included; the nodes lose them. Iterative, because a
/// constructed graph may nest deeper than recursion allows.
std::vector<std::shared_ptr<Graph>> take_all_subgraphs(std::span<Node* const> nodes) {
  std::vector<std::shared_ptr<Graph>> inner;
  for (Node* n : nodes) take_subgraphs(*n, inner);
  for (size_t i = 0; i < inner.size(); ++i) {
    const std::shared_ptr<Graph> g = inner[i];
    for (const auto& n : g->nodes()) take_subgraphs(*n, inner);
  }
  return inner;
}

}  // namespace

Graph::~Graph() { reorder_nodes({}); }

Value* Graph::add_value(std::string value_name, Type type) {
  auto value = std::unique_ptr<Value>(new Value(this, std::move(value_name)));
  Value* v = value.get();
  require(take(std::move(value)), ErrorCode::kInvalidModel, "the name '{}' is given to two values",
          v->name());
  v->type = std::move(type);
  return v;
}

Value* Graph::try_add_value(std::string value_name) {
  auto value = std::unique_ptr<Value>(new Value(this, std::move(value_name)));
  Value* v = value.get();
  return take(std::move(value)) ? v : nullptr;
}

bool Graph::take(std::unique_ptr<Value>&& value) {
  if (!index_.emplace(value->name_, value.get()).second) return false;
  values_.push_back(std::move(value));
  return true;
}

void Graph::reserve_values(size_t count) {
  values_.reserve(count);
  index_.reserve(count);
}

Value* Graph::add_constant(std::string value_name, UnalignedTensor tensor) {
  Value* v = add_value(std::move(value_name));
  v->set_tensor(std::move(tensor));
  return v;
}

Value* Graph::add_input(std::string value_name, Type type) {
  inputs.push_back(add_value(std::move(value_name), std::move(type)));
  return inputs.back();
}

Value* Graph::find_value(std::string_view value_name) const {
  const auto it = index_.find(value_name);
  return it == index_.end() ? nullptr : it->second;
}

Value* Graph::lookup(std::string_view value_name) const {
  for (const Graph* g = this; g != nullptr; g = g->parent_)
    if (Value* v = g->find_value(value_name)) return v;
  return nullptr;
}

std::string Graph::unique_name(std::string_view prefix) const {
  if (lookup(prefix) == nullptr) return std::string(prefix);
  const auto numbered = [&](int64_t i) { return std::string(prefix) + "_" + std::to_string(i); };
  const auto is_taken = [&](int64_t i) { return lookup(numbered(i)) != nullptr; };
  // Thousands may be in use, mostly without gaps: a linear search would make naming quadratic.
  int64_t taken = 0, free = 1;
  while (is_taken(free)) {
    taken = free;
    free += free < 16 ? 1 : free;
  }
  while (free - taken > 1) {
    const int64_t middle = taken + (free - taken) / 2;
    (is_taken(middle) ? taken : free) = middle;
  }
  return numbered(free);
}

Node* Graph::add_node(std::string op_type, std::vector<Value*> node_inputs, std::vector<Value*> node_outputs,
                      AttributeList attributes, std::string node_name, std::string domain) {
  return insert_node(nullptr, std::move(op_type), std::move(node_inputs), std::move(node_outputs),
                     std::move(attributes), std::move(node_name), std::move(domain));
}

Node* Graph::insert_node(const Node* position, std::string op_type, std::vector<Value*> node_inputs,
                         std::vector<Value*> node_outputs, AttributeList attributes, std::string node_name,
                         std::string domain) {
  auto node = std::unique_ptr<Node>(new Node(this));
  node->name = std::move(node_name);
  node->op_type = std::move(op_type);
  node->domain = std::move(domain);
  for (auto& [attribute_name, data] : attributes) {
    if (auto* g = std::get_if<std::shared_ptr<Graph>>(&data)) (*g)->set_parent(this);
    node->attributes.push_back({.name = std::move(attribute_name), .data = std::move(data)});
  }
  node->set_inputs(std::move(node_inputs));
  node->set_outputs(std::move(node_outputs));
  Node* raw = node.get();
  auto it = nodes_.end();
  if (position != nullptr)
    it = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.get() == position; });
  nodes_.insert(it, std::move(node));
  return raw;
}

void Graph::detach(Node& node) {
  node.set_inputs({});
  for (Value* v : node.outputs_)
    if (v != nullptr) v->producer_ = nullptr;
  node.outputs_.clear();
  node.attributes.clear();
  node.graph_ = nullptr;
}

void Graph::remove_node(Node* node) {
  remove_nodes_if([&](const Node& n) { return &n == node; });
}

namespace {

/// The outputs of a graph and of its subgraphs, which may return an outer value directly.
void add_outputs(const Graph& g, std::unordered_set<const Value*>& outputs) {
  outputs.insert(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes())
    for (const Attribute& a : n->attributes) {
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) add_outputs(**sub, outputs);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& sub : *list) add_outputs(*sub, outputs);
    }
}

}  // namespace

void Graph::remove_unused_values() {
  std::unordered_set<const Value*> kept(inputs.begin(), inputs.end());
  add_outputs(*this, kept);
  const auto unused = [&](const std::unique_ptr<Value>& v) {
    return v->producer_ == nullptr && v->consumers().empty() && !kept.contains(v.get());
  };
  std::unordered_set<const Value*> gone;
  for (const auto& v : values_) {
    if (!unused(v)) continue;
    index_.erase(v->name_);
    gone.insert(v.get());
  }
  if (gone.empty()) return;
  const auto is_gone = [&](const Value* v) { return gone.contains(v); };
  for (std::vector<Value*>* order : {&input_order, &value_info_order}) std::erase_if(*order, is_gone);
  std::erase_if(values_, unused);
}

void Graph::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  const Node* last = nullptr;  // a node that uses the value many times is searched once
  for (Node* n : from->consumers()) {
    if (n != last) std::replace(n->inputs_.begin(), n->inputs_.end(), from, to);
    to->consumers_.push_back(n);
    last = n;
  }
  from->consumers_.clear();
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::reorder_nodes(std::span<Node* const> order) {
  std::vector<std::unique_ptr<Node>> sorted, gone;
  sorted.reserve(order.size());
  gone.reserve(nodes_.size() - order.size());
  for (const auto& n : nodes_) n->graph_ = nullptr;
  for (Node* n : order) n->graph_ = this;
  for (auto& n : nodes_)
    if (n->graph_ == nullptr)
      gone.push_back(std::move(n));
    else
      n.release();  // its entry in the order owns it
  for (Node* n : order) sorted.emplace_back(n);
  nodes_ = std::move(sorted);
  if (gone.empty()) return;
  // Nodes of subgraphs may consume our values, so they are destroyed first.
  std::vector<Node*> leaving;
  for (const auto& n : gone) leaving.push_back(n.get());
  const std::vector<std::shared_ptr<Graph>> inner = take_all_subgraphs(leaving);
  for (const auto& g : inner)
    for (const auto& n : g->nodes_) leaving.push_back(n.get());
  // Marked first, so that a value with many uses is visited once.
  for (Node* n : leaving) n->graph_ = nullptr;
  std::unordered_set<const Graph*> own{this};
  for (const auto& g : inner) own.insert(g.get());
  std::unordered_set<Value*> cleared;
  cleared.reserve(leaving.size());
  for (Node* n : leaving) {
    for (Value* v : n->inputs_)
      if (v != nullptr && !own.contains(v->graph_)) {
        v->remove_consumer(n);  // the value may have many more uses
      } else if (v != nullptr && cleared.insert(v).second) {
        v->consumers();
        std::erase_if(v->consumers_, [](const Node* c) { return c->graph_ == nullptr; });
      }
    for (Value* v : n->outputs_)
      if (v != nullptr) v->producer_ = nullptr;
    n->inputs_.clear();
    n->outputs_.clear();
  }
}

int64_t Model::opset(std::string_view d) const {
  for (const OpsetImport& o : opsets)
    if (canonical_domain(o.domain) == canonical_domain(d)) return o.version;
  return 0;
}

const Function* Model::find_function(std::string_view d, std::string_view n,
                                     std::string_view overload) const {
  for (const Function& f : functions)
    if (f.name == n && f.overload == overload && canonical_domain(f.domain) == canonical_domain(d)) return &f;
  return nullptr;
}

}  // namespace assay
