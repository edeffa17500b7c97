// The regressors and classifiers of ai.onnx.ml on the engine.
#include "backends/engine_fixture.h"

namespace assay::engine_ml_test {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

class EngineMlTest : public EngineTest {
 protected:
  EngineMlTest() { model->opsets = {{"", 18}, {"ai.onnx.ml", 5}}; }

  /// Runs a node with this many outputs on rows of features of this type.
  void check(const std::string& op_type, AttributeList attributes, DType dtype, int64_t rows,
             int64_t features, size_t outputs) {
    g.outputs.clear();
    g.inputs.clear();
    feed.clear();
    const Dims dims = {Dim(rows), Dim(features)};
    Value* const x = g.add_input(g.unique_name("x"), Type::tensor(dtype, dims));
    feed.push_back(convert(random({rows, features}, -3, 3), dtype));
    std::vector<Value*> results;
    for (size_t i = 0; i < outputs; ++i) results.push_back(g.add_value(g.unique_name("y")));
    Node* const n = g.add_node(op_type, {x}, results, std::move(attributes));
    n->domain = "ai.onnx.ml";
    for (Value* v : results) output(v);
    infer_shapes(*model);
    const std::vector<Tensor> wanted = exact();
    const std::unique_ptr<Session> session = open();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<Tensor> y = run(*session);
      for (size_t i = 0; i < outputs; ++i) {
        if (wanted[i].dtype() == DType::kString) {
          const auto a = y[i].span<std::string>(), b = wanted[i].span<std::string>();
          EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << op_type;
        } else {
          expect_near(y[i], wanted[i], op_type);
        }
      }
    }
    // Casts stand around narrower floats.
    EXPECT_TRUE(tactics().contains("row_scores"));
    EXPECT_FALSE(tactics().contains("evaluate"));
    g.outputs.clear();
    g.remove_node(n);
  }

  void check_types(const std::string& op_type, const AttributeList& attributes, int64_t features,
                   size_t outputs) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64})
      for (const int64_t rows : {1, 3, 1000}) check(op_type, attributes, dtype, rows, features, outputs);
  }
};

/// Two trees over two features, one of them a leaf.
AttributeList trees(const std::string& prefix) {
  return {{"nodes_treeids", Ints{0, 0, 0, 0, 0, 5}},
          {"nodes_nodeids", Ints{0, 1, 2, 3, 4, 0}},
          {"nodes_featureids", Ints{0, 1, 0, 0, 0, 0}},
          {"nodes_values", Floats{1, 0, 0, 0, 0, 0}},
          {"nodes_modes", Strings{"BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "LEAF"}},
          {"nodes_truenodeids", Ints{1, 3, 0, 0, 0, 0}},
          {"nodes_falsenodeids", Ints{2, 4, 0, 0, 0, 0}},
          {prefix + "_treeids", Ints{0, 5, 0, 0, 0}},
          {prefix + "_nodeids", Ints{2, 0, 3, 4, 4}},
          {prefix + "_ids", Ints{0, 1, 0, 0, 1}},
          {prefix + "_weights", Floats{10, 0.5, 20, 30, 0.25}}};
}
AttributeList with(AttributeList a, std::string name, Attribute::Data value) {
  a.emplace_back(std::move(name), std::move(value));
  return a;
}

TEST_F(EngineMlTest, TreeRegressors) {
  for (const char* how : {"SUM", "AVERAGE", "MIN", "MAX"})
    for (const char* transform : {"NONE", "SOFTMAX", "LOGISTIC"})
      check_types("TreeEnsembleRegressor",
                  with(with(with(with(trees("target"), "n_targets", int64_t{2}), "aggregate_function",
                                 std::string(how)),
                            "post_transform", std::string(transform)),
                       "base_values", Floats{1, -2}),
                  2, 1);
}

TEST_F(EngineMlTest, TreeClassifiers) {
  check_types("TreeEnsembleClassifier", with(trees("class"), "classlabels_strings", Strings{"a", "b"}), 2, 2);
  check_types("TreeEnsembleClassifier", with(trees("class"), "classlabels_int64s", Ints{7, -1}), 2, 2);
}

TEST_F(EngineMlTest, TreeEnsemblesOfEveryFloat) {
  const AttributeList attributes = {{"tree_roots", Ints{0, 2}},
                                    {"nodes_modes", Tensor::vector(std::vector<uint8_t>{6, 1, 0})},
                                    {"nodes_featureids", Ints{0, 1, 0}},
                                    {"nodes_splits", Tensor::vector(Floats{0, 2, 0})},
                                    {"nodes_truenodeids", Ints{0, 1, 3}},
                                    {"nodes_trueleafs", Ints{1, 1, 1}},
                                    {"nodes_falsenodeids", Ints{1, 2, 3}},
                                    {"nodes_falseleafs", Ints{0, 1, 1}},
                                    {"membership_values", Tensor::vector(Floats{1, 3})},
                                    {"leaf_targetids", Ints{0, 1, 0, 1}},
                                    {"leaf_weights", Tensor::vector(Floats{1, 2, 4, 8})},
                                    {"n_targets", int64_t{2}}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat16})
    for (const int64_t rows : {1, 9}) check("TreeEnsemble", attributes, dtype, rows, 2, 1);
}

TEST_F(EngineMlTest, LinearModels) {
  check_types(
      "LinearRegressor",
      {{"coefficients", Floats{1, -2, 0.5, 3, 1, 1}}, {"intercepts", Floats{1, 2}}, {"targets", int64_t{2}}},
      3, 1);
  check_types("LinearClassifier",
              {{"coefficients", Floats{1, -2, 0.5, 3, 1, 1}},
               {"intercepts", Floats{1, 2}},
               {"classlabels_strings", Strings{"no", "yes"}},
               {"post_transform", std::string("SOFTMAX")}},
              3, 2);
}

TEST_F(EngineMlTest, SupportVectors) {
  check_types("SVMRegressor",
              {{"coefficients", Floats{1, -2}},
               {"support_vectors", Floats{1, 2, 3, -1, 0, 1}},
               {"n_supports", int64_t{2}},
               {"rho", Floats{0.5}},
               {"kernel_type", std::string("RBF")},
               {"kernel_params", Floats{0.1, 0, 3}}},
              3, 1);
  check_types("SVMClassifier",
              {{"coefficients", Floats{1, -2}},
               {"support_vectors", Floats{1, 2, 3, -1, 0, 1}},
               {"vectors_per_class", Ints{1, 1}},
               {"rho", Floats{0.5}},
               {"classlabels_ints", Ints{3, 4}},
               {"kernel_type", std::string("LINEAR")}},
              3, 2);
}

TEST_F(EngineMlTest, WrongFeaturesAreNamed) {
  g.inputs.clear();
  Value* const x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2), Dim(1)}));
  feed = {random({2, 1})};
  Value* const y = g.add_value("y");
  g.add_node("TreeEnsembleRegressor", {x}, {y}, with(trees("target"), "n_targets", int64_t{2}))->domain =
      "ai.onnx.ml";
  output(y);
  infer_shapes(*model);
  const std::unique_ptr<Session> session = open();
  try {
    run(*session);
    FAIL() << "a feature is missing";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("feature"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace assay::engine_ml_test
