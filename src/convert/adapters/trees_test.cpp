// TreeEnsemble and the operators before it: the same scores.
#include "convert/convert_test_util.h"

namespace assay::trees_test {
namespace {

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
const std::string kMl = "ai.onnx.ml";

/// x0 <= 1, then x1 < 0 with NaN to the left; x1 == 2 in the second tree. A leaf of the first votes twice.
AttributeList regressor() {
  return {{"n_targets", int64_t{2}},
          {"nodes_treeids", Ints{0, 0, 0, 0, 0, 7, 7, 7}},
          {"nodes_nodeids", Ints{0, 1, 2, 3, 4, 0, 5, 6}},
          {"nodes_featureids", Ints{0, 1, 0, 0, 0, 1, 0, 0}},
          {"nodes_modes",
           Strings{"BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"}},
          {"nodes_values", Floats{1, 0, 0, 0, 0, 2, 0, 0}},
          {"nodes_truenodeids", Ints{1, 3, 0, 0, 0, 6, 0, 0}},
          {"nodes_falsenodeids", Ints{2, 4, 0, 0, 0, 5, 0, 0}},
          {"nodes_missing_value_tracks_true", Ints{0, 1, 0, 0, 0, 0, 0, 0}},
          {"target_treeids", Ints{0, 0, 0, 0, 7, 7}},
          {"target_nodeids", Ints{2, 2, 3, 4, 5, 6}},
          {"target_ids", Ints{0, 1, 0, 1, 0, 1}},
          {"target_weights", Floats{10, 0.5F, -20, 30, 0.25F, 4}}};
}

AttributeList with(AttributeList list, const std::string& name, Attribute::Data value) {
  std::erase_if(list, [&](const auto& a) { return a.first == name; });
  list.emplace_back(name, std::move(value));
  return list;
}

Tensor rows() { return floats({0, -1, 0, 2, 2, 0, NAN, 2, 1, NAN, 5, 5}).reshaped({6, 2}); }

OneNode trees(const char* op, int64_t opset, const AttributeList& attributes, const Tensor& x = rows()) {
  return {op, opset, {x}, attributes, 1, kMl};
}

TEST(Trees, RegressorsBecomeEnsembles) {
  for (const int64_t from : {1, 3, 4}) {
    expect_same(trees("TreeEnsembleRegressor", from, regressor()), 5, {"TreeEnsemble"}, 0, kMl);
    for (const char* transform : {"SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"})
      expect_same(
          trees("TreeEnsembleRegressor", from, with(regressor(), "post_transform", std::string(transform))),
          5, {}, 1e-12, kMl);
    expect_same(trees("TreeEnsembleRegressor", from, with(regressor(), "base_values", Floats{0.5F, -3})), 5,
                {}, 0, kMl);
  }
  const AttributeList once = with(with(with(with(regressor(), "target_treeids", Ints{0, 0, 0, 7, 7}),
                                            "target_nodeids", Ints{2, 3, 4, 5, 6}),
                                       "target_ids", Ints{0, 0, 1, 0, 1}),
                                  "target_weights", Floats{10, -20, 30, 0.25F, 4});
  for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"})
    expect_same(trees("TreeEnsembleRegressor", 3, with(once, "aggregate_function", std::string(aggregate))),
                5, {}, 0, kMl);
  for (const char* aggregate : {"MIN", "MAX"})
    expect_same(
        trees("TreeEnsembleRegressor", 3, with(regressor(), "aggregate_function", std::string(aggregate))), 5,
        {}, 0, kMl);
  const char* modes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  for (const char* mode : modes) {
    Strings all = {mode, "BRANCH_LT", "LEAF", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"};
    expect_same(trees("TreeEnsembleRegressor", 3, with(regressor(), "nodes_modes", all)), 5, {}, 0, kMl);
  }
}

TEST(Trees, ATreeMayBeALeaf) {
  const AttributeList leaf = {
      {"n_targets", int64_t{1}},      {"nodes_treeids", Ints{0}},       {"nodes_nodeids", Ints{0}},
      {"nodes_featureids", Ints{0}},  {"nodes_modes", Strings{"LEAF"}}, {"nodes_values", Floats{0}},
      {"nodes_truenodeids", Ints{0}}, {"nodes_falsenodeids", Ints{0}},  {"target_treeids", Ints{0}},
      {"target_nodeids", Ints{0}},    {"target_ids", Ints{0}},          {"target_weights", Floats{2.5F}}};
  expect_same(trees("TreeEnsembleRegressor", 3, leaf), 5, {"TreeEnsemble"}, 0, kMl);
}

TEST(Trees, WhatEnsemblesCannotSay) {
  const auto why = [](const OneNode& node, int64_t to) { return refusal(node, to, kMl); };
  const auto function = [](const char* name) {
    return with(regressor(), "aggregate_function", std::string(name));
  };
  EXPECT_NE(why(trees("TreeEnsembleRegressor", 3, function("AVERAGE")), 5).find("several votes"),
            std::string::npos);
  EXPECT_NE(why(trees("TreeEnsembleRegressor", 3, with(function("MIN"), "base_values", Floats{1, 2})), 5)
                .find("base_values"),
            std::string::npos);
  EXPECT_NE(why(trees("TreeEnsembleRegressor", 3, regressor(), convert(rows(), DType::kFloat64)), 5)
                .find("float64"),
            std::string::npos);
}

/// A branch by a set, one shared leaf, and a comparison.
AttributeList ensemble() {
  return {{"n_targets", int64_t{2}},
          {"tree_roots", Ints{0, 2}},
          {"nodes_modes", convert(int64s({6, 0, 6}), DType::kUInt8)},
          {"nodes_splits", floats({0, 0.5F, 0})},
          {"membership_values", floats({2, 5, -1, NAN, NAN})},
          {"nodes_featureids", Ints{1, 0, 0}},
          {"nodes_missing_value_tracks_true", Ints{1, 0, 0}},
          {"nodes_truenodeids", Ints{0, 1, 2}},
          {"nodes_trueleafs", Ints{1, 1, 1}},
          {"nodes_falsenodeids", Ints{1, 0, 3}},
          {"nodes_falseleafs", Ints{0, 1, 1}},
          {"leaf_targetids", Ints{0, 1, 0, 1}},
          {"leaf_weights", floats({1.5F, -2, 8, 16})}};
}

TEST(Trees, EnsemblesBecomeRegressors) {
  for (const int64_t to : {4, 3, 1}) {
    expect_same(trees("TreeEnsemble", 5, ensemble()), to, {"TreeEnsembleRegressor"}, 0, kMl);
    for (const int64_t aggregate : {0, 1, 2, 3})
      expect_same(trees("TreeEnsemble", 5, with(ensemble(), "aggregate_function", aggregate)), to, {}, 0,
                  kMl);
    expect_same(trees("TreeEnsemble", 5, with(ensemble(), "post_transform", int64_t{2})), to, {}, 1e-12, kMl);
  }
  EXPECT_NE(
      refusal(trees("TreeEnsemble", 5, ensemble(), convert(rows(), DType::kFloat64)), 3, kMl).find("float64"),
      std::string::npos);
  EXPECT_NE(refusal(trees("TreeEnsemble", 5,
                          with(ensemble(), "nodes_splits", Tensor::vector(std::vector<double>{0, 0.1, 0}))),
                    3, kMl)
                .find("no float32 holds"),
            std::string::npos);
}

TEST(Trees, NumbersInTensors) {
  AttributeList tensors = regressor();
  std::erase_if(tensors,
                [](const auto& a) { return a.first == "nodes_values" || a.first == "target_weights"; });
  tensors.emplace_back("nodes_values_as_tensor", Tensor::vector(std::vector<double>{1, 0, 0, 0, 0, 2, 0, 0}));
  tensors.emplace_back("target_weights_as_tensor",
                       Tensor::vector(std::vector<double>{10, 0.5, -20, 30, 0.25, 4}));
  expect_same(trees("TreeEnsembleRegressor", 3, tensors), 1, {"TreeEnsembleRegressor"}, 0, kMl);
  expect_same(trees("TreeEnsembleRegressor", 3, tensors), 5, {}, 0, kMl);
  expect_same(trees("TreeEnsembleRegressor", 1, regressor()), 3, {"TreeEnsembleRegressor"}, 0, kMl);
  tensors = with(tensors, "target_weights_as_tensor",
                 Tensor::vector(std::vector<double>{10, 0.1, -20, 30, 0.25, 4}));
  EXPECT_NE(refusal(trees("TreeEnsembleRegressor", 3, tensors), 1, kMl).find("0.1, which no float32 holds"),
            std::string::npos);
}

AttributeList classifier() {
  AttributeList list = regressor();
  for (auto& [name, value] : list)
    if (name.starts_with("target_")) name = "class_" + name.substr(7);
  std::erase_if(list, [](const auto& a) { return a.first == "n_targets"; });
  list.emplace_back("classlabels_int64s", Ints{3, 4});
  return list;
}

TEST(Trees, Classifiers) {
  const OneNode node("TreeEnsembleClassifier", 1, {rows()}, classifier(), 2, kMl);
  expect_same(node, 3, {"TreeEnsembleClassifier"}, 0, kMl);
  expect_same({"TreeEnsembleClassifier", 3, {rows()}, classifier(), 2, kMl}, 1, {"TreeEnsembleClassifier"}, 0,
              kMl);
  EXPECT_EQ(refusal(node, 5, kMl),
            "'node' (ai.onnx.ml::TreeEnsembleClassifier): the operator TreeEnsembleClassifier, which opset 5 "
            "withdrew, has no equivalent in opset 5; the nearest that has it is 4.");
}

}  // namespace
}  // namespace assay::trees_test
