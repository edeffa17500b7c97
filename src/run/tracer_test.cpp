#include "run/tracer.h"

#include <gtest/gtest.h>

#include <fstream>

#include "graph/clone.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "run/run_test_util.h"

namespace assay::tracer_test {
namespace {

/// A loop of three multiplications by w and a tanh; then a Neg.
std::string save_loop(const TemporaryFolder& folder) {
  const std::string path = folder / "loop.onnxtxt";
  std::ofstream(path) << R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] z) <int64 three = {3}> {
  [loop] y = Loop <body: graph = b (int64 i, bool go, float[4] s) => (bool more, float[4] t)
    <float[4] w = {0.5, -0.25, 1.5, 0.75}> {
    more = Identity (go)
    [mul] h = Mul (s, w)
    [tanh] t = Tanh (h)
  }>(three, "", x)
  [neg] z = Neg (y)
}
)";
  return path;
}

/// The fake backend computes what the model says, with the body's weights off by a factor.
class TracerTest : public FakeBackendTest {
 protected:
  TracerTest() {
    options.runners = {fake_choice()};
    options.model.path = save_loop(folder);
    options.arbitrate = true;
    options.data.iterations = 1;
    fake_on_open = [this](const ModelSource& source) {
      model_ = clone_model(*source.model);
      ++opened;
      for (const auto& n : model_->graph->nodes())
        for (const Attribute& a : n->attributes)
          if (const auto* body = a.get_if<std::shared_ptr<Graph>>())
            if (Value* w = (*body)->find_value("w")) {
              Tensor t = w->tensor().aligned();
              for (float& v : t.mutable_span<float>()) v *= factor;
              w->set_tensor(t);
            }
      infer_shapes(*model_);
    };
    fake_output = [this](const std::string& output, std::span<const Tensor> feed) {
      Tensor found;
      Interpreter(model_, {.precision = ReferencePrecision::kStored})
          .run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
            if (v.name() == output) found = lanes[0];
          });
      return found;
    };
  }
  RunOutcome run() {
    opened = 0;
    const log::Capture capture;
    const RunOutcome outcome = run_printed(options).outcome;
    text = without_times(capture.out());
    return outcome;
  }
  bool logged(const std::string& line) const { return text.find(line) != std::string::npos; }

  RunOptions options;
  float factor = 1;
  int opened = 0;
  std::string text;

 private:
  std::shared_ptr<Model> model_;
};

TEST_F(TracerTest, WhatIsRightRunsOnce) {
  EXPECT_EQ(run(), RunOutcome::kPassed);
  EXPECT_EQ(opened, 1);
}

TEST_F(TracerTest, LayersFirstThenBodies) {
  factor = 1.01F;
  EXPECT_EQ(run(), RunOutcome::kFailed);
  EXPECT_EQ(opened, 4) << "and once as it ran first";
  EXPECT_TRUE(logged("again with every layer marked")) << text;
  EXPECT_TRUE(logged("again with 3 tensor(s) in the bodies of [\"'loop' (Loop)\"] marked")) << text;
  EXPECT_TRUE(logged(
      "First Divergence | fake-runner-N0-T | Node 'mul' (Mul), iteration 0 of 'loop' (Loop) | Output: 'h'"))
      << text;
  EXPECT_TRUE(logged("To cut the node around it out: the part of " + options.model.path +
                     " from 'x:auto:auto' to 'y:auto'"))
      << text;
  EXPECT_TRUE(logged("Error made by 1 node(s): 'mul' (Mul)")) << text;
}

TEST_F(TracerTest, BodiesAtOnceWhereLayersAreMarked) {
  factor = 1.01F;
  options.model.mark_all = true;
  EXPECT_EQ(run(), RunOutcome::kFailed);
  EXPECT_EQ(opened, 3);
  EXPECT_TRUE(logged("Node 'mul' (Mul), iteration 0 of 'loop' (Loop)")) << text;
  options.trace = false;
  EXPECT_EQ(run(), RunOutcome::kFailed);
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(logged("First Divergence | fake-runner-N0-T | Node 'loop' (Loop)")) << text;
}

/// Wrong every second time, from the third time on, and with the previous results: no node is blamed.
TEST_F(TracerTest, WhatIsNotReproducibleIsNobodysFault) {
  const auto plain = fake_output;
  const auto wrong_when = [&](const std::function<bool(int)>& is_wrong) {
    int calls = 0;
    fake_output = [&, is_wrong, calls](const std::string& output, std::span<const Tensor> feed) mutable {
      Tensor t = plain(output, feed);
      if (is_wrong(calls++))
        for (float& v : t.mutable_span<float>()) v *= 1.5F;
      return t;
    };
    EXPECT_EQ(run(), RunOutcome::kFailed);
    EXPECT_TRUE(logged("Not reproducible | fake-runner-N0-T")) << text;
    EXPECT_FALSE(logged("First Divergence")) << text;
    EXPECT_FALSE(logged("again with every layer marked")) << text;
  };
  wrong_when([](int call) { return call % 2 == 0; });
  wrong_when([](int call) { return call == 0; });
  wrong_when([](int call) { return call == 0 || call >= 3; });
}

/// A chain of layers 0 to 9, of which the backend fuses 4, 5 and 6 where it may, and errs.
TEST_F(TracerTest, WhatIsFusedIsNarrowedDown) {
  const std::string path = folder / "chain.onnxtxt";
  std::ofstream text_file(path);
  text_file << "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[4] x) => (float[4] v9) {\n";
  for (int i = 0; i < 10; ++i)
    text_file << fmt::format("  [n{0}] v{0} = {1} ({2})\n", i, i % 2 == 0 ? "Neg" : "Tanh",
                             i == 0 ? "x" : fmt::format("v{}", i - 1));
  text_file << "}\n";
  text_file.close();
  options.model.path = path;
  const auto plain = fake_output;
  bool fused = false;
  const auto before = fake_on_open;
  fake_on_open = [&](const ModelSource& source) {
    before(source);
    const auto& outputs = source.model->graph->outputs;
    fused = std::none_of(outputs.begin(), outputs.end(),
                         [](const Value* v) { return v->name() == "v4" || v->name() == "v5"; });
  };
  fake_output = [&](const std::string& output, std::span<const Tensor> feed) {
    Tensor t = plain(output, feed);
    if (fused && output >= "v6")
      for (float& v : t.mutable_span<float>()) v *= 1.01F;
    return t;
  };
  EXPECT_EQ(run(), RunOutcome::kFailed);
  EXPECT_TRUE(logged("Looking for what fake-runner-N0-T fuses")) << text;
  EXPECT_TRUE(
      logged("'v6' is wrong: the error is made between the values that are known, by 'n4' (Neg), 'n5' "
             "(Tanh), 'n6' (Neg)"))
      << text;
}

}  // namespace
}  // namespace assay::tracer_test
