#include "templates/tree_ensemble.h"

#include <algorithm>

#include "templates/builder.h"

namespace assay {
namespace {

/// The operators' attributes that describe nodes and leaves, one entry for each.
struct TreeLists {
  std::vector<int64_t> tree, node, feature, yes, no, missing;
  std::vector<float> split;
  std::vector<std::string> mode;
  std::vector<int64_t> leaf_tree, leaf_node, leaf_class;
  std::vector<float> leaf_weight;
};

TreeLists grow_trees(const TemplateBuilder& b, const TreeEnsembleSpec& spec) {
  const int64_t inner = (int64_t{1} << spec.depth) - 1, nodes = 2 * inner + 1, leaves = inner + 1;
  const int64_t votes = std::max<int64_t>(spec.classes, 1);
  const Scope root;
  // Without weights all splits and leaves are 0.
  const Tensor features = b.draw(root, "features", {spec.trees, inner}, Init::uniform(0.5, 0.5));
  const Tensor splits = b.draw(root, "splits", {spec.trees, inner}, Init::uniform(0.3, 0.5));
  const Tensor values =
      b.draw(root, "leaves", {spec.trees, leaves, votes}, Init::uniform(0.5, spec.classes > 0 ? 0.5 : 0.0));
  TreeLists t;
  for (int64_t tree = 0; tree < spec.trees; ++tree)
    for (int64_t node = 0; node < nodes; ++node) {
      const bool is_inner = node < inner;
      const int64_t at = tree * inner + node;
      t.tree.push_back(tree);
      t.node.push_back(node);
      t.feature.push_back(
          is_inner ? std::min(spec.features - 1, static_cast<int64_t>(features.data<float>()[at] *
                                                                      static_cast<float>(spec.features)))
                   : 0);
      t.split.push_back(is_inner ? splits.data<float>()[at] : 0);
      t.mode.emplace_back(is_inner ? "BRANCH_LEQ" : "LEAF");
      t.yes.push_back(is_inner ? 2 * node + 1 : 0);
      t.no.push_back(is_inner ? 2 * node + 2 : 0);
      t.missing.push_back(0);
      for (int64_t vote = 0; !is_inner && vote < votes; ++vote) {
        t.leaf_tree.push_back(tree);
        t.leaf_node.push_back(node);
        t.leaf_class.push_back(vote);
        const float value = values.data<float>()[(tree * leaves + node - inner) * votes + vote];
        t.leaf_weight.push_back(value / static_cast<float>(spec.classes > 0 ? spec.trees * votes : 1));
      }
    }
  return t;
}

}  // namespace

std::shared_ptr<Model> build_tree_ensemble(const TemplateOptions& options, std::string name,
                                           const TreeEnsembleSpec& spec) {
  TemplateBuilder b(options, std::move(name));
  b.import("ai.onnx.ml", 1);
  const Scope root;
  Value* x = b.input("features", DType::kFloat32, {b.batch(), spec.features});
  TreeLists t = grow_trees(b, spec);
  AttributeList attributes = {{"nodes_treeids", t.tree},
                              {"nodes_nodeids", t.node},
                              {"nodes_featureids", t.feature},
                              {"nodes_values", t.split},
                              {"nodes_modes", t.mode},
                              {"nodes_truenodeids", t.yes},
                              {"nodes_falsenodeids", t.no},
                              {"nodes_missing_value_tracks_true", t.missing},
                              {"post_transform", std::string("NONE")}};
  const std::string kind = spec.classes > 0 ? "class" : "target";
  attributes.emplace_back(kind + "_treeids", t.leaf_tree);
  attributes.emplace_back(kind + "_nodeids", t.leaf_node);
  attributes.emplace_back(kind + "_ids", t.leaf_class);
  attributes.emplace_back(kind + "_weights", t.leaf_weight);
  if (spec.classes == 0) {
    attributes.emplace_back("n_targets", int64_t{1});
    Value* y = b.node_with_outputs(root, "TreeEnsembleRegressor", {x}, std::move(attributes), 1, "ai.onnx.ml")
                   .front();
    b.output(y, "prediction", DType::kFloat32, {b.batch(), 1});
    return b.finish();
  }
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < spec.classes; ++i) labels.push_back(i);
  attributes.emplace_back("classlabels_int64s", labels);
  const std::vector<Value*> y =
      b.node_with_outputs(root, "TreeEnsembleClassifier", {x}, std::move(attributes), 2, "ai.onnx.ml");
  b.output(y[0], "label", DType::kInt64, {b.batch()});
  b.output(y[1], "probabilities", DType::kFloat32, {b.batch(), spec.classes});
  return b.finish();
}

}  // namespace assay
