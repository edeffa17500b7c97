// Converts the nodes of a model from version to version of their operators.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "convert/conversion.h"
#include "convert/rewrite.h"
#include "convert/upkeep.h"
#include "graph/function_index.h"
#include "ops/op_def.h"
#include "ops/op_set.h"

namespace assay {

/// One conversion; the report receives its edits, notes and problems.
class Converter final : public RewriteSink {
 public:
  Converter(Model& model, const ConvertOptions& options, ConvertReport& report)
      : model_(model),
        options_(options),
        domain_(plain_domain(options.domain)),
        to_(options.version),
        report_(report),
        functions_(model) {}

  /// All nodes of a graph, which imports version `from` of the domain. Throws Error for one that must be
  /// rewritten, but violates a rule of its operator: adapters rely on the rules.
  void graph(Graph& g, int64_t from);

  void added(Node& node, const Node& anchor, bool after, int64_t opset) override {
    (after ? places_[&anchor].after : places_[&anchor].before).push_back(&node);
    added_.insert(&node);
    make_name_unique(node);
    schedule(node, opset);
  }
  void added_inside(Node& node, int64_t opset) override {
    made_graphs_.insert(&node.graph());
    schedule(node, opset);
  }
  void removed(Node& node) override { removed_.insert(&node); }
  void note(const Node&, std::string text) override { add_note(fmt::format("{}: {}", label_, text)); }
  ConstantFinder& constants() override { return constants_; }
  OutputIndex& outputs() override { return outputs_; }
  const OpSet& ops() const override { return ops_of(model_); }
  bool wants_constant_nodes(const Graph& graph) const override {
    const Graph* root = &graph;
    while (root->parent() != nullptr) root = root->parent();
    return root != model_.graph.get();
  }

 private:
  struct Place {
    std::vector<Node*> before, after;
  };
  struct Pending {
    Node* node;
    int64_t opset;
  };

  void add_note(std::string text) {
    if (known_notes_.insert(text).second) report_.notes.push_back(std::move(text));
  }
  void problem(std::string reason, int64_t nearest) {
    report_.problems.push_back({label_, std::move(reason), nearest});
  }
  bool is_ours(const Node& n) const {
    return plain_domain(n.domain) == domain_ && functions_.called(n) == nullptr;
  }

  void make_name_unique(Node& node);
  void schedule(Node& node, int64_t opset);
  void original(Node& n, int64_t from);
  void convert(Node& n, int64_t opset);
  /// One step; returns the opset in which the node is valid now, or nothing when there is no equivalent.
  std::optional<int64_t> step(Node& n, const OpDef& op, const OpVersion& now);
  std::optional<int64_t> expand(Node& n, const OpDef& op);
  /// Replaces a node of constants by a constant; false if it is not one, or too large.
  bool evaluate(Node& n, const OpDef& op);
  /// Removes the nodes that an adapter added before it failed.
  void take_back(size_t pending);
  int64_t nearest_allowing(const Node& n, const OpDef& op, int64_t from) const;
  void check_types(const Node& n, const OpDef& op, int64_t from);
  void check_added(const Node& n, const OpDef& original, int64_t from);
  void place(const Node& n, std::vector<Node*>& order) const;
  void put_in_order(Graph& g);

  Model& model_;
  const ConvertOptions& options_;
  const std::string domain_;
  const int64_t to_;
  ConvertReport& report_;
  const FunctionIndex functions_;
  ConstantFinder constants_;
  OutputIndex outputs_;
  std::unordered_map<const Node*, Place> places_;
  std::unordered_set<const Node*> added_, removed_;
  std::unordered_set<Graph*> made_graphs_;  // the subgraphs of new nodes, not yet in order
  std::vector<Pending> pending_;            // grows while it is processed
  const Node* original_ = nullptr;          // the model's node that is being converted
  std::string label_;
  std::unordered_set<std::string> node_names_;  // ONNX Runtime refuses two nodes of one name
  std::unordered_map<std::string, int64_t> name_numbers_;
  std::unordered_set<std::string> known_notes_;
};

}  // namespace assay
