#include "run/edit_proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/match.h"
#include "graph/clone.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"
#include "run/proven_model.h"

namespace assay::edit_proof_test {
namespace {

/// Removes any Relu: correct only if nothing is negative.
std::optional<Patch> drop_relu(const Node& n, const PassContext& context) {
  if (!is_op(n, "Relu") || !context.can_replace(n.output(0), n.input(0))) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.replace(n.output(0), n.input(0));
  return patch;
}
const PassDef kDropRelu = {.name = "drop_relu", .summary = "", .match = drop_relu};

/// Merges two additions of constants, ignoring rounding.
std::optional<Patch> merge_adds(const Node& n, const PassContext& context) {
  const Node* first = is_op(n, "Add") ? producer_of(n.input(0), "Add") : nullptr;
  if (first == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::optional<double> a = scalar_of(first->input(1)), b = scalar_of(n.input(1));
  if (!a || !b) return std::nullopt;
  Patch patch(n);
  patch.remove(*first);
  patch.remove(n);
  patch.add("Add", {first->input(0), patch.constant("sum", Tensor::scalar(static_cast<float>(*a + *b)))}, {},
            n.output(0));
  return patch;
}
const PassDef kMergeAdds = {.name = "merge_adds", .summary = "", .match = merge_adds};

/// A pass over the whole model that is wrong at one place.
bool neg_is_abs(Model& m) {
  for (const auto& n : m.graph->nodes())
    if (is_op(*n, "Neg")) return n->op_type = "Abs", true;
  return false;
}
const PassDef kNegIsAbs = {.name = "neg_is_abs", .summary = "", .run = neg_is_abs};

std::shared_ptr<Model> model_of(const std::string& graph) {
  std::shared_ptr<Model> m = parse_text("<ir_version: 8, opset_import: [\"\" : 17]> " + graph, "text");
  infer_shapes(*m);
  return m;
}

MakeModel maker(const std::shared_ptr<Model>& model, std::vector<const PassDef*> passes) {
  return [model, passes](EditProof& proof, FoldExtent) {
    std::shared_ptr<Model> copy = clone_model(*model);
    run_passes(*copy, passes, {.verify = true}, [&](const PassEdit& e) { return proof.allows(e); });
    return copy;
  };
}

int count(const Model& m, std::string_view op) {
  return static_cast<int>(std::count_if(m.graph->nodes().begin(), m.graph->nodes().end(),
                                        [&](const auto& n) { return is_op(*n, op); }));
}

TEST(EditProof, AnEditThatIsWrongIsNotMadeAndOneThatIsRightIs) {
  // The second one follows a value that is never negative.
  const auto model = model_of(
      "g (float[n] x) => (float[n] y) { [a] r = Relu (x) t = Neg (r) [s] u = Sigmoid (t) [b] y = Relu (u) }");
  EditProof proof;
  const ProvenModel proven = make_proven(model, maker(model, {&kDropRelu}), proof, EquivalenceOptions());
  ASSERT_NE(proven.model, nullptr);
  EXPECT_EQ(count(*proven.model, "Relu"), 1);
  ASSERT_EQ(proof.refused().size(), 1U);
  EXPECT_EQ(proof.refused()[0].pass, "drop_relu");
  EXPECT_EQ(proof.refused()[0].node, "'a' (Relu)");
  EXPECT_NE(proof.refused()[0].reason, "");
  EXPECT_EQ(proof.proved(), 1);
  EXPECT_EQ(proven.made, 1) << "nothing to look for in the whole model";
}

TEST(EditProof, ARightEditIsMadeFarFromWhatMakesItRight) {
  const auto model = model_of(
      "g (float[n] x) => (float[n] y) { a = Abs (x) b = Identity (a) c = Identity (b) d = Identity (c) e = "
      "Identity (d) f = Identity (e) h = Identity (f) [r] y = Relu (h) }");
  EditProof proof;
  const ProvenModel proven = make_proven(model, maker(model, {&kDropRelu}), proof, EquivalenceOptions());
  EXPECT_EQ(count(*proven.model, "Relu"), 0);
  EXPECT_TRUE(proof.refused().empty());
}

TEST(EditProof, ARoundingTrickStays) {
  const auto trick = model_of(
      "g (float[n] x) => (float[n] y) <float m = {12582912}, float w = {-12582912}> { [a] t = Add (x, m) [b] "
      "y = "
      "Add (t, w) }");
  EditProof proof;
  EXPECT_EQ(count(*make_proven(trick, maker(trick, {&kMergeAdds}), proof, EquivalenceOptions()).model, "Add"),
            2);
  const auto sums = model_of(
      "g (float[n] x) => (float[n] y) <float m = {1.5}, float w = {-0.3}> { [a] t = Add (x, m) [b] y = Add "
      "(t, w) "
      "}");
  EditProof other;
  EXPECT_EQ(count(*make_proven(sums, maker(sums, {&kMergeAdds}), other, EquivalenceOptions()).model, "Add"),
            1);
}

TEST(EditProof, WhatCannotBeProvedByItselfIsFoundInTheWhole) {
  const auto model = model_of(
      "g (float[n] x) => (float[n] y) { a = Exp (x) [p] b = Relu (a) [q] c = Neg (b) [r] y = Relu (c) }");
  EditProof proof({.is_local = false});
  const ProvenModel proven =
      make_proven(model, maker(model, {&kDropRelu, &kNegIsAbs}), proof, EquivalenceOptions());
  ASSERT_NE(proven.model, nullptr);
  EXPECT_EQ(count(*proven.model, "Neg"), 1);
  EXPECT_EQ(count(*proven.model, "Relu"), 1) << "the one behind Exp goes";
  std::vector<std::string> passes;
  for (const RefusedEdit& e : proof.refused()) passes.push_back(e.pass + " " + e.node);
  std::sort(passes.begin(), passes.end());
  EXPECT_EQ(passes, (std::vector<std::string>{"drop_relu 'r' (Relu)", "neg_is_abs "}));
}

TEST(EditProof, WithoutAnyEditThatHelpsThereIsNoModel) {
  const auto model = model_of("g (float[n] x) => (float[n] y) { y = Neg (x) }");
  EditProof proof;
  const ProvenModel proven = make_proven(
      model,
      [](EditProof&, FoldExtent) { return model_of("g (float[n] x) => (float[n] y) { y = Abs (x) }"); },
      proof, EquivalenceOptions());
  EXPECT_EQ(proven.model, nullptr);
  EXPECT_NE(proven.comparison.difference, "");
}

}  // namespace
}  // namespace assay::edit_proof_test
