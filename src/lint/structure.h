// Names, order, tensors and types of a model as the file has them, before it is imported.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lint/report.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay::lint {

/// Checks a model and repairs what import_message() would refuse, so that the rest can be checked, too: a
/// name that is defined nowhere becomes a graph input without a type, a second definition gets another name,
/// bad tensors and types are removed. Subgraphs and local functions are checked likewise.
class StructureCheck {
 public:
  StructureCheck(onnx::ModelMessage& model, onnx::ExternalData external, Report& report);

  /// The names given to nodes of the main graph that have none: polygraphy_unnamed_node_<number>.
  void name_nodes();
  /// Adds what it finds to the report.
  void run();
  /// Keeps the texts that repairs made: the message views them.
  const std::shared_ptr<const void>& texts() const { return owner_; }

 private:
  using Names = std::unordered_map<std::string_view, std::string_view>;  // to what the name stands for
  /// The values that can be seen at a place.
  struct Scope {
    const Scope* outer = nullptr;
    Names defined;  ///< so far
    Names later;    ///< by nodes that follow
    bool sees(std::string_view name) const;
    bool sees_later(std::string_view name) const;
  };
  void model();
  void opsets();
  void function(onnx::FunctionMessage& f);
  void function_lists(const onnx::FunctionMessage& f, const Place& place);
  void graph(onnx::GraphMessage& g, const Scope* outer, const Place& place);
  void inputs(onnx::GraphMessage& g, Scope& scope, const Place& place);
  void initializers(onnx::GraphMessage& g, Scope& scope, const Place& place);
  void outputs(onnx::GraphMessage& g, const Scope& scope, const Place& place);
  void value_infos(onnx::GraphMessage& g, const Scope& scope, const Place& place);
  void node_names(const std::vector<onnx::NodeMessage>& nodes);
  void body(std::vector<onnx::NodeMessage>& nodes, Scope& scope, const Place& place, bool is_main);
  /// `around` locates the node's graph; findings
  /// at nodes outside of the main graph name it.
  void node(onnx::NodeMessage& n, Scope& scope, const Place& around, bool is_main);
  void add_undefined(std::string_view name);
  void node_outputs(onnx::NodeMessage& n, Scope& scope, const Place& place);
  void attributes(onnx::NodeMessage& n, const Scope& scope, const Place& place, const Place& around);
  void attribute_tensors(onnx::AttributeMessage& a, const Place& place);
  bool define(Scope& scope, std::string_view name, std::string_view what, const Place& place);
  void type(onnx::ValueInfoMessage& v, const Place& place);
  std::string problem_of(const onnx::TensorMessage& t);
  std::string_view keep(std::string text);

  onnx::ModelMessage& model_;
  onnx::ExternalData external_;
  Report& report_;
  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
  std::shared_ptr<const void> owner_ = texts_;
  std::unordered_set<std::string_view> known_undefined_;
  std::vector<std::string_view> undefined_;    ///< names to become inputs of the main graph or the function
  std::unordered_set<std::string_view> lost_;  ///< of initializers without usable data
  int renamed_ = 0;
};

}  // namespace assay::lint
