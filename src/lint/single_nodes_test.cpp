#include "lint/single_nodes.h"

#include <csignal>

#include "lint/lint_test_util.h"

namespace assay::lint::single_nodes_test {
namespace {

/// A backend that refuses one operator.
class FakeSession final : public Session {
 public:
  explicit FakeSession(const Model& model) {
    for (const Value* v : model.graph->inputs) inputs_.push_back({v->name(), v->type});
    for (const Value* v : model.graph->outputs) outputs_.push_back({v->name(), v->type});
  }
  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    for (size_t i = 0; i < outputs_.size(); ++i) sink(i, feed[0]);
  }
  double last_run_seconds() const override { return 0; }

 private:
  std::vector<TensorInfo> inputs_, outputs_;
};
std::unique_ptr<Session> open_fake(const ModelSource& source, const SessionOptions&) {
  for (const auto& n : source.model->graph->nodes()) {
    require(n->op_type != "Neg", ErrorCode::kUnsupported,
            "ONNX Runtime: Node ({}) Op (Neg) [ShapeInferenceError] no \"Neg\" : here", n->name);
    require(n->op_type != "If", ErrorCode::kUnsupported,
            "ONNX Runtime: Non-zero status code returned while running If node. Name:'{}' Status Message: "
            "Non-zero "
            "status code returned while running LSTM node. Name:'inner' Status Message: rank 3, please",
            n->name);
    if (n->op_type == "Crash") ::raise(SIGKILL);
    require(n->op_type != "Custom", ErrorCode::kUnsupported,
            "ONNX Runtime: Custom(1) is not a registered function/op");
  }
  return std::make_unique<FakeSession>(*source.model);
}

class FunctionBackend final : public Backend {
 public:
  using Open = std::unique_ptr<Session> (*)(const ModelSource&, const SessionOptions&);
  explicit FunctionBackend(Open open) : Backend({.name = "fake", .human_name = "Fake"}), open_(open) {}
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& o) const override {
    return open_(source, o);
  }

 private:
  Open open_;
};

class LintRunTest : public LintTest {
 protected:
  LintRunTest() {
    options.backend = &backend;
    options.feed = [](const std::vector<TensorInfo>& inputs) {
      TensorList list;
      for (const TensorInfo& i : inputs)
        list.push_back({i.name, Tensor::zeros(DType::kFloat32, Shape{2, 3})});
      return list;
    };
  }
  const FunctionBackend backend{open_fake};
  const FunctionBackend crashes_at_two_nodes{[](const ModelSource& source, const SessionOptions& o) {
    if (source.model->graph->nodes().size() > 1) ::raise(SIGKILL);
    return open_fake(source, o);
  }};
  const FunctionBackend warns{[](const ModelSource& source, const SessionOptions& o) {
    o.on_warning("Error merging shape info.\nFalling back.");
    return open_fake(source, o);
  }};
  const FunctionBackend refuses_its_options{
      [](const ModelSource&, const SessionOptions&) -> std::unique_ptr<Session> {
        fail(ErrorCode::kInvalidArgument, "there is no provider 'x'");
      }};
};

TEST_F(LintRunTest, AModelThatRunsHasItsUsedNodesPass) {
  const Report report = lint(model("[n] y = Relu (x)\n[m] z = Relu (x)"), true);
  EXPECT_EQ(report.passing(), std::vector<std::string>{"n"});
  EXPECT_TRUE(report.is_valid());
}

TEST_F(LintRunTest, RunsNodeByNodeAndSkipsWhatDependsOnAFault) {
  const Report report =
      lint(model("[a] p = Relu (x)\n[b] q = Neg (p)\n[d] r = Relu (q)\n[e] s = Custom (p)\n[f] y = "
                 "Relu (p)"),
           true);
  EXPECT_EQ(report.failing(), std::vector<std::string>{"b"});
  EXPECT_EQ(report.passing(), (std::vector<std::string>{"a", "e", "f"})) << "d depends on a node that failed";
  EXPECT_EQ(lines(report).substr(0, lines(report).find("unused-input")),
            "runtime-error b:  no `Neg`here\nruntime-unknown-operator e: Custom(1) is not a registered "
            "function/op\n")
      << lines(report);
  EXPECT_NE(output.find("LINT | Name: b, Op: Neg |  no `Neg`here\n"), std::string::npos) << output;
}

TEST_F(LintRunTest, ACrashIsAFindingAndTheRestIsRun) {
  const Report report = lint(
      model("[a] p = Relu (x)\n[b] q = Crash (p)\n[d] r = Relu (q)\n[e] s = Crash (x)\n[f] t = Neg (p)\n[g] "
            "y = Relu (p)"),
      true);
  EXPECT_EQ(report.failing(), (std::vector<std::string>{"b", "e", "f"}));
  EXPECT_EQ(report.passing(), (std::vector<std::string>{"a", "g"})) << "d depends on a node that failed";
  const std::string crash = "Fake was killed by signal 9 (Killed) while it ran this node\n";
  EXPECT_EQ(lines(report).substr(0, lines(report).find("unused-input")),
            "runtime-crash b: " + crash + "runtime-crash e: " + crash + "runtime-error f:  no `Neg`here\n");
}

TEST_F(LintRunTest, ACrashOfTheWholeAloneIsOneToo) {
  options.backend = &crashes_at_two_nodes;
  const Report report = lint(model("[a] p = Relu (x)\n[b] y = Relu (p)"), true);
  EXPECT_FALSE(report.is_valid());
  EXPECT_EQ(report.passing(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines(report).substr(0, lines(report).find('\n')),
            "runtime-crash : Fake was killed by signal 9 (Killed) while it ran the whole model");
}

TEST_F(LintRunTest, WhatIsNotTheModelsFaultEndsTheCheck) {
  options.backend = &refuses_its_options;
  try {
    lint(model("[n] y = Relu (x)"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(e.what(), "there is no provider 'x'");
  }
}

TEST_F(LintRunTest, WithoutDataTheRulesStandAlone) {
  options.feed = [](const std::vector<TensorInfo>&) -> TensorList {
    fail(ErrorCode::kInvalidArgument, "no data");
  };
  const Report report = lint(model("[n] y = Neg (x)"));
  EXPECT_TRUE(report.is_valid());
  EXPECT_NE(output.find("Fake is not asked, as there are no data to run the model on: no data"),
            std::string::npos)
      << output;
}

TEST_F(LintRunTest, DataThatSomebodyNamedMustBeThere) {
  options.needs_data = true;
  options.feed = [](const std::vector<TensorInfo>&) -> TensorList {
    fail(ErrorCode::kInvalidArgument, "no data");
  };
  try {
    lint(model("[n] y = Neg (x)"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "no data");
  }
}

TEST(PrunedMessage, LosesPlacesAndLabels) {
  EXPECT_EQ(pruned_message("Node (a) Op (MatMul) [ShapeInferenceError] Incompatible dimensions"),
            " Incompatible dimensions");
  EXPECT_EQ(pruned_message("Load model from m.onnx failed:This is an invalid model. Error: two names"),
            "Load model from m.onnx failed:two names");
  EXPECT_EQ(pruned_message("/src/core/op.cc:12 onnxruntime::Op::Run(int, char) bad input"), " bad input");
  EXPECT_EQ(pruned_message(
                "Non-zero status code returned while running Add node. Name:'n' Status Message: a \"b\""),
            "a `b`");
  EXPECT_EQ(pruned_message("In Node, (n, Add, \"\", -1), Error Unrecognized attribute"),
            "Unrecognized attribute");
  EXPECT_EQ(pruned_message("nothing to prune"), "nothing to prune");
}

TEST_F(LintRunTest, ANodeInABodyIsNamed) {
  const std::string text = model(
      "[n] y = If (c) <then_branch: graph = t () => (float[2, 3] h) { h = Relu (x) }, else_branch: graph = e "
      "() => "
      "(float[2, 3] b) { b = Abs (x) }>");
  EXPECT_EQ(lines(lint(text)), "runtime-error n: at node 'inner': rank 3, please\n");
  EXPECT_EQ(lines(lint(text, true)), "runtime-error n: rank 3, please\n");
}

TEST_F(LintRunTest, WarningsOfAModelThatRunsAreReported) {
  options.backend = &warns;
  const Report report = lint(model("[n] y = Relu (x)"), true);
  EXPECT_TRUE(report.is_valid());
  EXPECT_EQ(lines(report),
            "runtime-warning : Error merging shape info.\n"
            "runtime-warning : Falling back.\n"
            "unused-input : Input: 'c' does not affect outputs, can be removed.\n");
}

TEST_F(LintRunTest, WarningsOfAModelThatDoesNotRunAreLeftToItsNodes) {
  options.backend = &warns;
  const Report report = lint(model("[n] y = Neg (x)"), true);
  EXPECT_EQ(lines(report),
            "runtime-error n:  no `Neg`here\n"
            "unused-input : Input: 'c' does not affect outputs, can be removed.\n");
}

/// A node whose input has no data is a failing one, not an unknown one.
TEST_F(LintRunTest, NodesWithoutWeightsFail) {
  const Report report = lint(model("[n] h = Add (x, w)\n[m] z = Relu (h)\n[k] y = Abs (x)",
                                   "<float[2, 3] w = [\"location\": \"gone.bin\"]>"),
                             true);
  EXPECT_EQ(report.failing(), std::vector<std::string>{"n"}) << lines(report);
  EXPECT_EQ(report.passing(), std::vector<std::string>{"k"});
}

}  // namespace
}  // namespace assay::lint::single_nodes_test
