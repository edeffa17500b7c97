// ai.onnx.ml: small fitted models and tables.
#include <algorithm>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

Floats floats(Draft& d, int64_t n, double low = -2, double high = 2) {
  const Tensor t = d.values(DType::kFloat32, {n}, low, high);
  return {t.span<float>().begin(), t.span<float>().end()};
}

Strings names(int64_t n) {
  Strings list;
  for (int64_t i = 0; i < n; ++i) list.push_back(std::string(1, static_cast<char>('a' + i)));
  return list;
}

Ints counting(int64_t n, int64_t from = 0) {
  Ints list;
  for (int64_t i = 0; i < n; ++i) list.push_back(from + i);
  return list;
}

void give_labels(Draft& d, int64_t n) {
  if (d.r.chance(50))
    d.attr("classlabels_ints", counting(n, 3));
  else
    d.attr("classlabels_strings", names(n));
}

void give_post_transform(Draft& d) {
  d.word("post_transform", {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"});
}

}  // namespace

void make_feature_extractor(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  d.input("X", s);
  d.input("Y", d.integers(DType::kInt64, {d.positive(3)}, 0, s.back() - 1));
}

void make_binarizer(Draft& d) {
  d.input("X", d.positive_shape(1, 3));
  d.number("threshold", -1, 1);
}

void make_cast_map(Draft& d) {
  const int64_t n = d.positive(4);
  Ints keys = counting(n, 1);
  if (d.r.chance(50)) keys.back() += 2;
  const std::string to = d.r.one_of({"TO_FLOAT", "TO_INT64", "TO_STRING"});
  const bool words = d.r.chance(30);
  Tensor values = d.values(DType::kFloat32, {n}, 0, 4);
  if (words) {
    values = Tensor::allocate(DType::kString, {n});
    for (std::string& s : values.mutable_span<std::string>()) s = d.r.one_of({"1", "2", "7"});
  }
  d.input("X", Tensor::map(Tensor::vector(keys), values));
  d.attr("cast_to", to);
  if (d.r.chance(50)) d.attr("map_form", std::string("SPARSE")), d.attr("max_map", n + 4);
}

void make_category_mapper(Draft& d) {
  const bool from_strings = d.input_dtype("X") == DType::kString;
  d.attr("cats_strings", Strings{"a", "b", "ab"});
  d.attr("cats_int64s", Ints{1, 2, 3});
  if (d.r.chance(50)) d.attr("default_string", std::string("none"));
  if (d.r.chance(50)) d.attr("default_int64", int64_t{-7});
  d.input("X", d.values(from_strings ? DType::kString : DType::kInt64, d.positive_shape(1, 2), 0, 4));
}

void make_dict_vectorizer(Draft& d) {
  const bool strings = d.r.chance(50);
  const Tensor values = d.values(d.r.one_of({DType::kFloat32, DType::kFloat64}), {2});
  if (strings) {
    d.attr("string_vocabulary", Strings{"b", "a", "c"});
    return d.input("X", Tensor::map(Tensor::vector(Strings{"a", "b"}), values));
  }
  d.attr("int64_vocabulary", Ints{5, 1, 3});
  d.input("X", Tensor::map(Tensor::vector(Ints{1, d.r.between(3, 5)}), values));
}

void make_feature_vectorizer(Draft& d) {
  const int64_t n = d.positive(3);
  const DType t = d.dtype("T1");
  Ints widths;
  for (int64_t i = d.positive(3); i > 0; --i) {
    widths.push_back(d.positive(3));
    d.more(d.values(t, {n, widths.back()}));
  }
  d.attr("inputdimensions", widths);
}

void make_imputer(Draft& d) {
  const int64_t n = d.positive(4);
  if (d.input_dtype("X") == DType::kInt32 || d.input_dtype("X") == DType::kFloat64)
    d.choose("T", {DType::kInt64, DType::kFloat32});
  const int64_t count = d.r.chance(50) ? n : 1;
  if (is_integer(d.input_dtype("X"))) {
    d.attr("imputed_value_int64s", counting(count, 10));
    d.attr("replaced_value_int64", int64_t{1});
  } else {
    d.attr("imputed_value_floats", floats(d, count));
    d.attr("replaced_value_float", 0.5f);
  }
  d.input("X", Shape{d.positive(3), n});
}

void make_label_encoder(Draft& d) {
  if (d.since == 1) {
    const bool strings = d.input_dtype("X") == DType::kString;
    d.attr("classes_strings", Strings{"a", "b", "ab"});
    if (d.r.chance(50)) d.attr("default_int64", int64_t{-7});
    return d.input("X", d.values(strings ? DType::kString : DType::kInt64, d.positive_shape(1, 2), 0, 4));
  }
  const std::string key = d.r.one_of({"int64", "string", "float"}),
                    value = d.r.one_of({"int64", "string", "float"});
  const DType t = key == "int64" ? DType::kInt64 : key == "string" ? DType::kString : DType::kFloat32;
  if (key == "int64") d.attr("keys_int64s", Ints{1, 2, 3});
  if (key == "string") d.attr("keys_strings", Strings{"a", "b", "ab"});
  if (key == "float") d.attr("keys_floats", Floats{1, 2, 0.5f});
  if (value == "int64") d.attr("values_int64s", Ints{7, 8, 9});
  if (value == "string") d.attr("values_strings", Strings{"x", "y", "z"});
  if (value == "float") d.attr("values_floats", Floats{0.25f, 8, -1});
  if (d.r.chance(50))
    d.attr("default_int64", int64_t{-7}), d.attr("default_string", std::string("none")),
        d.attr("default_float", 2.5f);
  d.input("X", d.values(t, d.positive_shape(1, 2), 0, 4));
}

void make_linear_classifier(Draft& d) {
  const int64_t n = d.positive(4), classes = d.r.between(2, 4);
  d.input("X", Shape{d.positive(3), n});
  d.attr("coefficients", floats(d, classes * n));
  if (d.r.chance(70)) d.attr("intercepts", floats(d, classes));
  give_labels(d, classes);
  give_post_transform(d);
}

void make_linear_regressor(Draft& d) {
  const int64_t n = d.positive(4), targets = d.positive(3);
  d.choose("T", {DType::kFloat32});
  d.input("X", Shape{d.positive(3), n});
  d.attr("coefficients", floats(d, targets * n));
  d.attr("targets", targets);
  if (d.r.chance(70)) d.attr("intercepts", floats(d, targets));
}

void make_normalizer(Draft& d) {
  d.input("X", d.positive_shape(1, 2));
  d.word("norm", {"MAX", "L1", "L2"});
}

void make_one_hot_encoder(Draft& d) {
  const bool strings = d.input_dtype("X") == DType::kString;
  if (strings)
    d.attr("cats_strings", Strings{"a", "b", "", "ab"});
  else
    d.attr("cats_int64s", Ints{0, 3, 1});
  d.input("X", d.values(d.input_dtype("X"), d.positive_shape(1, 2), 0, 3));
  if (!strings)
    d.input("X", convert(d.integers(DType::kInt64, d.positive_shape(1, 2), 0, 3), d.input_dtype("X")));
}

void make_scaler(Draft& d) {
  const int64_t n = d.positive(4);
  d.input("X", Shape{d.positive(3), n});
  const int64_t count = d.r.chance(50) ? n : 1;
  d.attr("offset", floats(d, count));
  d.attr("scale", floats(d, count));
}

void make_svm_regressor(Draft& d) {
  const int64_t n = d.positive(3), vectors = d.positive(3);
  d.choose("T", {DType::kFloat32});
  d.input("X", Shape{d.positive(3), n}, -1, 1);
  d.attr("kernel_type", std::string(d.r.one_of({"LINEAR", "POLY", "RBF", "SIGMOID"})));
  d.attr("kernel_params", Floats{0.5f, 0.25f, 2});
  d.attr("n_supports", vectors);
  d.attr("support_vectors", floats(d, vectors * n, -1, 1));
  d.attr("coefficients", floats(d, vectors));
  d.attr("rho", Floats{0.25f});
}

void make_svm_classifier(Draft& d) {
  const int64_t n = d.positive(3), classes = d.r.between(2, 3);
  Ints counts;
  int64_t vectors = 0;
  for (int64_t i = 0; i < classes; ++i) counts.push_back(d.positive(2)), vectors += counts.back();
  d.choose("T1", {DType::kFloat32});
  d.input("X", Shape{d.positive(3), n}, -1, 1);
  d.attr("kernel_type", std::string(d.r.one_of({"LINEAR", "POLY", "RBF", "SIGMOID"})));
  d.attr("kernel_params", Floats{0.5f, 0.25f, 2});
  d.attr("vectors_per_class", counts);
  d.attr("support_vectors", floats(d, vectors * n, -1, 1));
  d.attr("coefficients", floats(d, vectors * (classes - 1)));
  d.attr("rho", floats(d, classes * (classes - 1) / 2));
  give_labels(d, classes);
}

void make_zip_map(Draft& d) {
  const int64_t n = d.positive(3);
  d.input("X", Shape{d.positive(3), n});
  if (d.r.chance(50))
    d.attr("classlabels_int64s", counting(n, 2));
  else
    d.attr("classlabels_strings", names(n));
}

/// Trees of one split each, over a few features.
void make_tree_ensemble_v1(Draft& d) {
  const bool classifier = d.is("TreeEnsembleClassifier");
  const int64_t trees = d.positive(3), n = d.positive(3),
                outs = classifier ? d.r.between(2, 3) : d.positive(2);
  // A leaf weighs every class, one of them, or (as exporters do for two classes) always the first.
  const bool one = d.r.chance(30) && outs == 2, sparse = one || d.r.chance(30);
  Ints tree, node, feature, yes, no, leaf_tree, leaf_node, leaf_id;
  Strings modes;
  Floats values, weights;
  for (int64_t t = 0; t < trees; ++t) {
    for (int64_t i = 0; i < 3; ++i) {
      tree.push_back(t);
      node.push_back(i);
      feature.push_back(i == 0 ? d.r.between(0, n - 1) : 0);
      yes.push_back(i == 0 ? 1 : 0);
      no.push_back(i == 0 ? 2 : 0);
      modes.push_back(i > 0 ? "LEAF"
                            : d.r.one_of({"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ",
                                          "BRANCH_NEQ"}));
      values.push_back(i == 0 ? 0.5f : 0.0f);
      if (i == 0) continue;
      const int64_t chosen = one ? 0 : d.r.between(0, outs - 1);
      for (int64_t id = 0; id < outs; ++id) {
        if (sparse && id != chosen) continue;
        leaf_tree.push_back(t);
        leaf_node.push_back(i);
        leaf_id.push_back(id);
        weights.push_back(static_cast<float>(d.r.between(-8, 8)) / 4);
      }
    }
  }
  const bool wide = d.input_dtype("X") == DType::kFloat64 && d.since >= 3;
  d.input("X", Shape{d.positive(3), n}, -2, 2);
  d.attr("nodes_treeids", tree);
  d.attr("nodes_nodeids", node);
  d.attr("nodes_featureids", feature);
  d.attr("nodes_truenodeids", yes);
  d.attr("nodes_falsenodeids", no);
  d.attr("nodes_modes", modes);
  const std::string leaf = classifier ? "class" : "target";
  d.attr(leaf + "_treeids", leaf_tree);
  d.attr(leaf + "_nodeids", leaf_node);
  d.attr(leaf + "_ids", leaf_id);
  const auto count = static_cast<int64_t>(values.size()), leaves = static_cast<int64_t>(weights.size());
  if (wide) {
    d.attr("nodes_values_as_tensor", convert(Tensor::from<float>({count}, values), DType::kFloat64));
    d.attr(leaf + "_weights_as_tensor", convert(Tensor::from<float>({leaves}, weights), DType::kFloat64));
  } else {
    d.attr("nodes_values", values);
    d.attr(leaf + "_weights", weights);
  }
  if (!classifier) {
    d.attr("n_targets", outs);
    d.word("aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"});
    return;
  }
  if (d.r.chance(50))
    d.attr("classlabels_int64s", counting(outs, 3));
  else
    d.attr("classlabels_strings", names(outs));
  d.word("post_transform", {"NONE", "SOFTMAX", "LOGISTIC"});
}

void make_tree_ensemble(Draft& d) {
  const int64_t trees = d.positive(3), n = d.positive(3), outs = d.positive(2);
  d.choose("T", {DType::kFloat32, DType::kFloat64});
  const DType t = d.input_dtype("X");
  Ints roots, feature, yes, no, leaf_yes, leaf_no, target;
  for (int64_t i = 0; i < trees; ++i) {
    roots.push_back(i);
    feature.push_back(d.r.between(0, n - 1));
    yes.push_back(2 * i);
    no.push_back(2 * i + 1);
    leaf_yes.push_back(1);
    leaf_no.push_back(1);
    for (int k = 0; k < 2; ++k) target.push_back(d.r.between(0, outs - 1));
  }
  Tensor modes = d.integers(DType::kUInt8, {trees}, 0, 5);
  d.input("X", Shape{d.positive(3), n}, -2, 2);
  d.attr("tree_roots", roots);
  d.attr("nodes_featureids", feature);
  d.attr("nodes_modes", modes);
  d.attr("nodes_splits", d.values(t, {trees}));
  d.attr("nodes_truenodeids", yes);
  d.attr("nodes_trueleafs", leaf_yes);
  d.attr("nodes_falsenodeids", no);
  d.attr("nodes_falseleafs", leaf_no);
  d.attr("leaf_targetids", target);
  d.attr("leaf_weights", d.values(t, {2 * trees}));
  d.attr("n_targets", outs);
  d.attr("aggregate_function", d.r.between(0, 3));
}

}  // namespace assay::fuzz
