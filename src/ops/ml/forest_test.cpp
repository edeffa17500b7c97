#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "ops/ml/ml_test_util.h"
#include "ops/ml/row_scorer.h"
#include "tensor/convert.h"

namespace assay::forest_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Two trees over two features. Tree 0: x0 <= 1 ? (x1 > 0 ? leaf 3 : leaf 4) : leaf 2. Tree 5: one leaf.
/// Leaves vote for targets 0 and 1.
AttributeList forest(const std::string& prefix) {
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
AttributeList regressor() { return with(forest("target"), "n_targets", int64_t{2}); }
AttributeList classifier() { return with(forest("class"), "classlabels_strings", Strings{"a", "b"}); }

const Tensor kRows = Tensor::from<double>({4, 2}, Doubles{2, 0, 1, 1, 1, 0, kNaN, kNaN});

TEST(TreeEnsembleRegressor, AddsTheVotesOfAllTrees) {
  const Tensor y = run_ml("TreeEnsembleRegressor", 3, {kRows}, regressor())[0];
  // A missing x0 is not <= 1.
  expect_values(y, {10, 0.5, 20, 0.5, 30, 0.75, 10, 0.5});
}

TEST(TreeEnsembleRegressor, ThreadsWithOneRowEachDoNotMeet) {
  constexpr int64_t kTrees = 10000;  // so much work that a row is a piece
  Ints trees, nodes, zeros, yes, no, leaf_trees, leaf_nodes;
  Strings modes;
  Floats values, weights;
  for (int64_t t = 0; t < kTrees; ++t)
    for (int64_t n = 0; n < 3; ++n) {
      trees.push_back(t), nodes.push_back(n), zeros.push_back(0);
      modes.emplace_back(n == 0 ? "BRANCH_LEQ" : "LEAF");
      values.push_back(0);
      yes.push_back(n == 0 ? 1 : 0), no.push_back(n == 0 ? 2 : 0);
      if (n == 0) continue;
      leaf_trees.push_back(t), leaf_nodes.push_back(n);
      weights.push_back(static_cast<float>(n));
    }
  const AttributeList forest = {{"nodes_treeids", trees},
                                {"nodes_nodeids", nodes},
                                {"nodes_featureids", zeros},
                                {"nodes_values", values},
                                {"nodes_modes", modes},
                                {"nodes_truenodeids", yes},
                                {"nodes_falsenodeids", no},
                                {"target_treeids", leaf_trees},
                                {"target_nodeids", leaf_nodes},
                                {"target_weights", weights},
                                {"target_ids", Ints(leaf_trees.size(), 0)},
                                {"n_targets", int64_t{1}}};
  const OpTestNode n("TreeEnsembleRegressor", 3, {true}, forest, 1, "ai.onnx.ml");
  const auto scorer = n.op().scorer(OpContext(n.node(), n.op(), n.version()));
  const Tensor x = Tensor::from<double>({2, 1}, Doubles{-1, 1});
  const PoolScope scope(std::make_shared<ThreadPool>(2));
  for (int round = 0; round < 500; ++round) {
    const Tensor y = convert(scorer->run(x)[0], DType::kFloat64);
    ASSERT_EQ(y.data<double>()[0], kTrees) << round;
    ASSERT_EQ(y.data<double>()[1], 2 * kTrees) << round;
  }
}

TEST(TreeEnsembleRegressor, MissingValuesMayTakeTheTrueBranch) {
  const AttributeList tracked = with(regressor(), "nodes_missing_value_tracks_true", Ints{1, 0, 0, 0, 0, 0});
  const Tensor y = run_ml("TreeEnsembleRegressor", 1, {kRows}, tracked)[0];
  EXPECT_EQ(y.data<double>()[6], 30);
}

TEST(TreeEnsembleRegressor, Aggregates) {
  const auto with_function = [](const char* name) {
    const AttributeList a =
        with(with(regressor(), "aggregate_function", std::string(name)), "base_values", Floats{100, 200});
    return run_ml("TreeEnsembleRegressor", 3, {Tensor::from<double>({1, 2}, Doubles{1, 0})}, a)[0];
  };
  expect_values(with_function("SUM"), {130, 200.75});
  expect_values(with_function("AVERAGE"), {115, 200.375});
  expect_values(with_function("MIN"), {130, 200.25});
  expect_values(with_function("MAX"), {130, 200.5});
  EXPECT_THROW(with_function("MEAN"), Error);
}

TEST(TreeEnsembleRegressor, ComparesInEveryWay) {
  const auto chosen = [](const char* mode) {
    AttributeList a = with(regressor(), "nodes_modes", Strings{mode, "LEAF", "LEAF", "LEAF", "LEAF", "LEAF"});
    a = with(a, "target_nodeids", Ints{2, 0, 1, 1, 1});
    Ints taken;  // for x0 below, at and above the threshold, and missing
    const Tensor x = Tensor::from<double>({4, 2}, Doubles{0, 0, 1, 0, 2, 0, kNaN, 0});
    const Tensor y = run_ml("TreeEnsembleRegressor", 3, {x}, a)[0];
    for (size_t r = 0; r < 4; ++r) taken.push_back(y.data<double>()[2 * r] != 10);
    return taken;
  };
  EXPECT_EQ(chosen("BRANCH_LEQ"), (Ints{1, 1, 0, 0}));
  EXPECT_EQ(chosen("BRANCH_LT"), (Ints{1, 0, 0, 0}));
  EXPECT_EQ(chosen("BRANCH_GTE"), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(chosen("BRANCH_GT"), (Ints{0, 0, 1, 0}));
  EXPECT_EQ(chosen("BRANCH_EQ"), (Ints{0, 1, 0, 0}));
  EXPECT_EQ(chosen("BRANCH_NEQ"), (Ints{1, 0, 1, 1}));
  EXPECT_THROW(chosen("BRANCH"), Error);
}

TEST(TreeEnsembleRegressor, NumbersMayComeAsTensors) {
  AttributeList a = without(without(regressor(), "nodes_values"), "target_weights");
  a.emplace_back("nodes_values_as_tensor", Tensor::vector(Doubles{1, 0, 0, 0, 0, 0}));
  a.emplace_back("target_weights_as_tensor", Tensor::vector(Doubles{0.1, 0.5, 20, 30, 0.25}));
  EXPECT_EQ(run_ml("TreeEnsembleRegressor", 3, {kRows}, a)[0].data<double>()[0], 0.1);
  EXPECT_THROW(run_ml("TreeEnsembleRegressor", 3, {kRows}, with(a, "nodes_values", Floats(6))), Error);
}

TEST(TreeEnsembleRegressor, RejectsBrokenTrees) {
  const auto broken = [](const char* name, Attribute::Data value) {
    EXPECT_THROW(run_ml("TreeEnsembleRegressor", 3, {kRows}, with(regressor(), name, std::move(value))),
                 Error)
        << name;
  };
  broken("nodes_nodeids", Ints{0, 1, 2, 3, 3, 0});      // twice
  broken("nodes_truenodeids", Ints{1, 9, 0, 0, 0, 0});  // missing
  broken("nodes_truenodeids", Ints{1, 3, 0, 0, 0});     // too short
  broken("nodes_featureids", Ints{0, 2, 0, 0, 0, 0});   // the input has two
  broken("nodes_featureids", Ints{0, -1, 0, 0, 0, 0});
  broken("target_ids", Ints{0, 2, 0, 0, 1});
  broken("target_nodeids", Ints{2, 7, 3, 4, 4});
  broken("target_weights", Floats{1});
  broken("base_values", Floats{1, 2, 3});
  broken("n_targets", int64_t{0});
  broken("nodes_missing_value_tracks_true", Ints{1});
  broken("nodes_treeids", Ints{});
}

TEST(TreeEnsembleRegressor, RejectsPathsThatNeverEnd) {
  // Node 1 leads back to the root.
  EXPECT_THROW(run_ml("TreeEnsembleRegressor", 3, {kRows},
                      with(regressor(), "nodes_truenodeids", Ints{1, 0, 0, 0, 0, 0})),
               Error);
  // Node 1 leads to itself.
  EXPECT_THROW(run_ml("TreeEnsembleRegressor", 3, {kRows},
                      with(regressor(), "nodes_truenodeids", Ints{1, 1, 0, 0, 0, 0})),
               Error);
}

TEST(TreeEnsembleClassifier, TheLargestScoreWins) {
  const auto y =
      run_ml("TreeEnsembleClassifier", 3, {kRows}, with(classifier(), "base_values", Floats{-15, 1}), 2);
  EXPECT_EQ(words(y[0]), (Strings{"b", "a", "a", "b"}));
  expect_values(y[1], {-5, 1.5, 5, 1.5, 15, 1.75, -5, 1.5});
}

TEST(TreeEnsembleClassifier, VotesForClassZeroOnlyScoreTheSecondClass) {
  AttributeList binary = with(classifier(), "class_ids", Ints{0, 0, 0, 0, 0});
  binary = with(binary, "class_weights", Floats{0.25, 0.125, 0.5, 0.25, 0.25});
  const Tensor x = Tensor::from<double>({2, 2}, Doubles{2, 0, 1, 1});
  const auto y = run_ml("TreeEnsembleClassifier", 1, {x}, binary, 2);
  EXPECT_EQ(words(y[0]), (Strings{"a", "b"}));  // above a half
  expect_values(y[1], {0.625, 0.375, 0.375, 0.625});
  const auto signs = run_ml("TreeEnsembleClassifier", 1, {x},
                            with(binary, "class_weights", Floats{0.25, 0.125, -0.5, 0, 0}), 2);
  EXPECT_EQ(words(signs[0]), (Strings{"b", "a"}));  // above zero, since a vote is negative
  expect_values(signs[1], {-0.375, 0.375, 0.375, -0.375});
}

TEST(TreeEnsembleClassifier, ALoneClassWinsWhenPositive) {
  AttributeList lone = with(without(classifier(), "classlabels_strings"), "classlabels_int64s", Ints{1});
  lone = with(lone, "class_ids", Ints{0, 0, 0, 0, 0});
  lone = with(lone, "class_weights", Floats{-1, 0, 2, 0, 0});
  const auto y =
      run_ml("TreeEnsembleClassifier", 1, {Tensor::from<double>({2, 2}, Doubles{2, 0, 1, 1})}, lone, 2);
  EXPECT_EQ(y[0].to_int64(), (Ints{0, 1}));
  expect_values(y[1], {-1, 2});
}

/// x0 in {1, 3} ? leaf 0 : (x1 < 2 ? leaf 1 : leaf 2), and a tree that is one leaf.
AttributeList ensemble() {
  return {{"tree_roots", Ints{0, 2}},
          {"nodes_modes", Tensor::vector(std::vector<uint8_t>{6, 1, 0})},
          {"nodes_featureids", Ints{0, 1, 0}},
          {"nodes_splits", Tensor::vector(Doubles{0, 2, 0})},
          {"nodes_truenodeids", Ints{0, 1, 3}},
          {"nodes_trueleafs", Ints{1, 1, 1}},
          {"nodes_falsenodeids", Ints{1, 2, 3}},
          {"nodes_falseleafs", Ints{0, 1, 1}},
          {"membership_values", Tensor::vector(Doubles{1, 3, kNaN})},
          {"leaf_targetids", Ints{0, 1, 0, 1}},
          {"leaf_weights", Tensor::vector(Doubles{10, 20, 30, 0.5})},
          {"n_targets", int64_t{2}}};
}

TEST(TreeEnsemble, TestsMembershipAndComparesBelow) {
  const Tensor x = Tensor::from<double>({5, 2}, Doubles{3, 0, 2, 0, 2, 5, 2.5, 2, kNaN, kNaN});
  const Tensor y = run_ml("TreeEnsemble", 5, {x}, ensemble())[0];
  expect_values(y, {10, 0.5, 0, 20.5, 30, 0.5, 30, 0.5, 30, 0.5});
  const AttributeList tracked = with(ensemble(), "nodes_missing_value_tracks_true", Ints{1, 0, 0});
  EXPECT_EQ(run_ml("TreeEnsemble", 5, {x}, tracked)[0].data<double>()[8], 10);
}

TEST(TreeEnsemble, NumbersTheTransformsAsTheSpecificationDoes) {
  const Tensor x = Tensor::from<double>({1, 2}, Doubles{3, 0});
  expect_values(run_ml("TreeEnsemble", 5, {x}, with(ensemble(), "post_transform", int64_t{1}))[0],
                {1 / (1 + std::exp(-9.5)), 1 / (1 + std::exp(9.5))}, 1e-12);
  expect_values(run_ml("TreeEnsemble", 5, {x}, with(ensemble(), "post_transform", int64_t{2}))[0],
                {1 / (1 + std::exp(-10.0)), 1 / (1 + std::exp(-0.5))}, 1e-12);
  EXPECT_THROW(run_ml("TreeEnsemble", 5, {x}, with(ensemble(), "post_transform", int64_t{5})), Error);
}

TEST(TreeEnsemble, RejectsBrokenTrees) {
  const Tensor x = Tensor::from<double>({1, 2}, Doubles{3, 0});
  const auto broken = [&](const char* name, Attribute::Data value) {
    EXPECT_THROW(run_ml("TreeEnsemble", 5, {x}, with(ensemble(), name, std::move(value))), Error) << name;
  };
  broken("tree_roots", Ints{0, 3});
  broken("tree_roots", Ints{});
  broken("nodes_modes", Tensor::vector(std::vector<uint8_t>{7, 1, 0}));
  broken("nodes_truenodeids", Ints{0, 4, 3});
  broken("nodes_falsenodeids", Ints{3, 2, 3});
  broken("nodes_falsenodeids", Ints{-1, 2, 3});
  broken("leaf_targetids", Ints{0, 1, 2, 1});
  broken("membership_values", Tensor::vector(Doubles{1, kNaN, 3, kNaN}));
  broken("aggregate_function", int64_t{4});
  broken("n_targets", int64_t{-1});
  EXPECT_THROW(run_ml("TreeEnsemble", 5, {x}, without(ensemble(), "membership_values")), Error);
  // Node 1 refers to itself.
  AttributeList endless = with(ensemble(), "nodes_truenodeids", Ints{0, 1, 3});
  endless = with(endless, "nodes_trueleafs", Ints{1, 0, 1});
  EXPECT_THROW(run_ml("TreeEnsemble", 5, {Tensor::from<double>({1, 2}, Doubles{0, 0})}, endless), Error);
}

TEST(TreeEnsemble, InfersTheInputsTypeAndTheTargets) {
  const InferResult r =
      infer_ml("TreeEnsemble", 5, {Type::tensor(DType::kFloat16, Dims{Dim(), Dim(2)})}, ensemble());
  EXPECT_EQ(r.str(), "float16[?, 2]");
}

}  // namespace
}  // namespace assay::forest_test
