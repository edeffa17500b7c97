// The builder of templates: names, weights, constants and nodes of one model under construction.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "templates/model_template.h"
#include "tensor/random_weights.h"

namespace assay {

/// A module of a PyTorch model: the path of its nodes in the exporter's naming (`/layer1/layer1.0/conv1`) and
/// of its weights in the state_dict (`layer1.0.conv1`). The default is the model itself.
class Scope {
 public:
  /// The submodule kept in an attribute. For an element of a ModuleList, which is not called itself, the name
  /// is `list.index`.
  Scope child(std::string_view name) const;
  /// Submodules of submodules, by names with '/' between them.
  Scope at(std::string_view names) const;
  /// The element of this Sequential.
  Scope item(int index) const;

  const std::string& path() const { return path_; }
  /// The state_dict key of a weight of this module.
  std::string key(std::string_view leaf) const;

 private:
  std::string path_, key_, leaf_;
};

/// Variations between exporters.
struct ExportStyle {
  bool folds_norms = false;     ///< batch normalizations are part of the convolutions before them
  bool constant_nodes = false;  ///< constant() adds Constant nodes instead of initializers
  bool decomposes = false;      ///< layer normalization and GELU in simpler operators, whatever the opset has
};

/// Builds one model. Nodes are added in the order of the calls, which is topological.
class TemplateBuilder {
 public:
  TemplateBuilder(const TemplateOptions& options, std::string graph_name, const ExportStyle& style = {});

  int64_t opset() const { return options_.opset.value_or(kDefaultTemplateOpset); }
  const ExportStyle& style() const { return style_; }
  bool is_dynamic() const { return !options_.batch.has_value(); }
  /// False when weights are not computed.
  bool has_weights() const { return options_.weights == TemplateWeights::kRandom; }
  /// The extent of the first dimension in types: a number or the symbol `batch`.
  Dim batch() const { return is_dynamic() ? Dim::symbol("batch") : Dim(*options_.batch); }

  /// An input of the model, or inside body() of the body.
  Value* input(std::string name, DType dtype, Dims dims);
  /// Makes v an output under this name, of the model or the body.
  void output(Value* v, std::string name, DType dtype, Dims dims);

  /// Adds a node named `<path>/<op_type>`, with a counter from the second of that name on, and returns its
  /// output.
  Value* node(const Scope& scope, std::string_view op_type, std::vector<Value*> inputs,
              AttributeList attributes = {});
  /// The same with several outputs.
  std::vector<Value*> node_with_outputs(const Scope& scope, std::string_view op_type,
                                        std::vector<Value*> inputs, AttributeList attributes, int outputs,
                                        std::string_view domain = "");
  /// The body of an If, Loop or Scan: `fill` adds its nodes, which may refer to outer values.
  std::shared_ptr<Graph> body(std::string name, const std::function<void()>& fill);
  /// Imports another domain than ONNX's own.
  void import(std::string domain, int64_t version);

  /// A float32 entry of the state_dict, drawn from `init`.
  Value* weight(const Scope& scope, std::string_view leaf, const Shape& shape, const Init& init);
  /// The values of weight(), for a caller that modifies them before add_weight().
  Tensor draw(const Scope& scope, std::string_view leaf, const Shape& shape, const Init& init) const;
  Value* add_weight(const Scope& scope, std::string_view leaf, Tensor values);

  /// A constant of the code, not of the state_dict; its name begins with the path.
  Value* constant(const Scope& scope, Tensor values);
  Value* ints(const Scope& scope, const std::vector<int64_t>& values);
  Value* scalar(const Scope& scope, float value);

  /// Ends the construction.
  std::shared_ptr<Model> finish();

 private:
  std::string numbered(std::string name);

  TemplateOptions options_;
  ExportStyle style_;
  std::shared_ptr<Model> model_ = std::make_shared<Model>();
  Graph* graph_ = model_->graph.get();  ///< the graph under construction: the main graph or a body
  std::map<std::string, int, std::less<>> uses_;
};

/// True for the name of a weight that PyTorch counts as a parameter: neither a constant() nor a running
/// statistic.
bool is_parameter_name(std::string_view name);

}  // namespace assay
