// Loops with and without equal iterations, on the engine and on the reference.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::prepared_loop_test {
namespace {

Tensor ramp(const Shape& shape, float first = 1) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (float& x : t.mutable_span<float>()) x = (first = first < 9 ? first + 1 : -7);
  return t;
}

class PreparedLoop : public testing::Test {
 protected:
  /// `is_open`: the extent of x is not known.
  void read(const std::string& graph, int opset = 17, bool is_open = false) {
    model_ = parse_text(fmt::format("<ir_version: 8, opset_import: [\"\" : {}]>\n{}", opset, graph), "loop");
    infer_shapes(*model_);
    BuilderConfig config{.optimization_level = 0};
    OptimizationProfile profile;
    profile.set_shape("x", {1}, {2}, {100});
    if (is_open) config.profiles = {profile};
    engine_ = Builder(runtime_).build_engine(model_, config);
    context_ = engine_->create_execution_context();
  }

  /// Runs it twice on one context and once from a saved plan; small whole numbers come out exactly.
  std::vector<Tensor> expect_exact(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> wanted(model_->graph->outputs.size());
    Interpreter(model_, {}).run(inputs, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < wanted.size(); ++i)
        if (model_->graph->outputs[i] == &v) wanted[i] = lanes[0];
    });
    const auto loaded = runtime_.deserialize_engine(engine_->serialize())->create_execution_context();
    for (ExecutionContext* context : {context_.get(), context_.get(), loaded.get()}) {
      const std::vector<Tensor> got = context->infer(inputs);
      EXPECT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(convert(got[i], DType::kFloat64).identical(convert(wanted[i], DType::kFloat64)))
            << "output " << i << " of shape " << got[i].shape().str();
    }
    return wanted;
  }

  Runtime runtime_{{.threads = 2}};
  std::shared_ptr<Model> model_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<ExecutionContext> context_;
};

TEST_F(PreparedLoop, AnyNumberOfIterations) {
  read(R"(g (int64 n, float[3] x) => (float[3] y, float[t,3] ys, int64[t] is) {
    y, ys, is = Loop (n, , x) <body = b (int64 i, bool go, float[3] v) => (bool go_on, float[3] next, float[3] s, int64 k) {
      go_on = Identity (go) next = Sub (x, v) s = Add (next, v) k = Mul (i, i) }> })");
  for (const int64_t trips : {0, 1, 2, 3, 50, -1}) {
    SCOPED_TRACE(trips);
    const std::vector<Tensor> y = expect_exact({Tensor::scalar(trips), ramp({3})});
    EXPECT_EQ(y[1].dim(0), std::max<int64_t>(trips, 0));
  }
}

TEST_F(PreparedLoop, AConditionEndsIt) {
  // With a stack nobody knows its length beforehand.
  for (const bool stacks : {false, true}) {
    SCOPED_TRACE(stacks);
    read(fmt::format(R"(g (int64 n, bool c, float[3] x, float limit) => (float[3] y{}) {{
      y{} = Loop (n, c, x) <body = b (int64 i, bool go, float[3] v) => (bool go_on, float[3] next{}) {{
        next = Add (v, x) top = ReduceMax <keepdims = 0> (next) go_on = Less (top, limit) {} }}> }})",
                     stacks ? ", float[t,3] ys" : "", stacks ? ", ys" : "", stacks ? ", float[3] s" : "",
                     stacks ? "s = Neg (v)" : ""));
    for (const bool begins : {true, false})
      for (const float limit : {-100.0F, 12.0F, 40.0F, 1e6F})
        expect_exact({Tensor::scalar(int64_t{20}), Tensor::scalar(begins), ramp({3}), Tensor::scalar(limit)});
  }
}

TEST_F(PreparedLoop, ShapesThatChange) {
  read(R"(g (int64 n, float[N] x) => (float[M] y) {
    y = Loop (n, , x) <body = b (int64 i, bool go, float[K] v) => (bool go_on, float[L] next) {
      go_on = Identity (go) zero = Constant <value_ints = [0]> () one = Constant <value_ints = [1]> ()
      k = Reshape (i, one) head = Slice (v, zero, k) next = Concat <axis = 0> (v, head) }> })",
       17, true);
  // The first iteration keeps the shape, the second does not.
  for (const int64_t trips : {1, 2, 3, 5, 9}) {
    SCOPED_TRACE(trips);
    expect_exact({Tensor::scalar(trips), ramp({2})});
  }
}

TEST_F(PreparedLoop, AStateOfAScanKeepsItsShape) {
  const auto run = [&] {
    read(R"(g (float[N] x, float[4,2] s) => (float[M] y, float[4,2] z) {
      y, z = Scan <num_scan_inputs = 1, body = b (float[K] v, float[2] e) => (float[L] next, float[2] o) {
        next = Concat <axis = 0> (v, e) o = Neg (e) }> (x, s) })",
         17, true);
    context_->infer(std::vector<Tensor>{ramp({2}), ramp({4, 2})});
  };
  EXPECT_THROW(run(), Error);
}

TEST_F(PreparedLoop, NestedLoopsCaptureFromTwoLevelsUp) {
  read(R"(g (int64 n, int64 m, float[3] x) => (float[3] y, float[t,3] ys) {
    y, ys = Loop (n, , x) <body = b (int64 i, bool go, float[3] v) => (bool go_on, float[3] next, float[3] s) {
      go_on = Identity (go) half = Sub (v, x)
      next, ss = Loop (m, , half) <body = c (int64 j, bool run, float[3] w) => (bool run_on, float[3] later, float[3] q) {
        run_on = Identity (run) d = Sub (x, w) later = Sub (d, v) q = Add (w, x) }>
      s = ReduceSum <keepdims = 0> (ss, axis) axis = Constant <value_ints = [0]> () }> })");
  for (const int64_t n : {0, 1, 7})
    for (const int64_t m : {1, 2, 3}) expect_exact({Tensor::scalar(n), Tensor::scalar(m), ramp({3})});
}

TEST_F(PreparedLoop, BodiesThatGiveWhatTheyGot) {
  // States change places, a captured value is given, one value is given three times.
  read(
      R"(g (int64 n, float[2,2] x, float[2,2] z) => (float[2,2] a, float[2,2] b, float[2,2] c, float[t,2,2] as, float[t,2,2] bs, float[t,2,2] zs) {
    one = Neg (z)
    a, b, c, as, bs, zs = Loop (n, , x, one, x) <body = l (int64 i, bool go, float[2,2] p, float[2,2] q, float[2,2] r)
      => (bool go, float[2,2] q, float[2,2] p, float[2,2] s, float[2,2] s, float[2,2] p, float[2,2] z) {
      s = Add (r, q) }> })");
  for (const int64_t n : {0, 1, 2, 5, 6}) expect_exact({Tensor::scalar(n), ramp({2, 2}), ramp({2, 2}, 4)});
}

TEST_F(PreparedLoop, EntriesOfBytesAndOfNothing) {
  read(
      R"(g (uint8[3] x, uint8[9,3] e, float[0,2] none) => (uint8[3] y, uint8[9,3] ys, float[0,2] no, float[9,0,2] nos) {
    y, no, ys, nos = Scan <num_scan_inputs = 1, body = b (uint8[3] v, float[0,2] u, uint8[3] w) => (uint8[3] n, float[0,2] o, uint8[3] s, float[0,2] p) {
      n = Max (v, w) o = Neg (u) s = Min (v, w) p = Identity (u) }> (x, none, e) })");
  Tensor x = convert(ramp({3}), DType::kUInt8), e = convert(ramp({9, 3}, 3), DType::kUInt8);
  expect_exact({x, e, Tensor::zeros(DType::kFloat32, {0, 2})});
}

TEST_F(PreparedLoop, ScansAlongEveryAxisInEveryDirection) {
  for (int in_axis = 0; in_axis < 3; ++in_axis)
    for (int out_axis = -1; out_axis < 3; ++out_axis)
      for (int way = 0; way < 4; ++way) {
        SCOPED_TRACE(fmt::format("{} {} {}", in_axis, out_axis, way));
        Shape all{5, 7};
        all.insert_at(static_cast<size_t>(in_axis), 133);  // more than lie together at a time
        read(fmt::format(
            R"(g (float[5,7] x, float[133,5,7] f, float[{}] e) => (float[5,7] y, float[A,B,C] ys) {{
            y, ys = Scan <num_scan_inputs = 2, scan_input_axes = [0, {}], scan_output_axes = [{}],
                scan_input_directions = [{}, {}], scan_output_directions = [{}],
                body = b (float[5,7] v, float[5,7] p, float[5,7] q) => (float[5,7] n, float[5,7] s) {{
              n = Max (p, q) d = Sub (v, q) s = Add (d, p) }}> (x, f, e) }})",
            fmt::join(all.dims(), ","), in_axis, out_axis, way & 1, way >> 1, way & 1));
        expect_exact({ramp({5, 7}), ramp({133, 5, 7}, 3), ramp(all, -4)});
      }
}

TEST_F(PreparedLoop, BatchedScansOfTheirOwnLengths) {
  read(R"(g (int64[2] n, float[2,3] x, float[2,5,3] e) => (float[2,3] y, float[2,5,3] ys) {
    y, ys = Scan <num_scan_inputs = 1, directions = [1], body = b (float[3] v, float[3] w) => (float[3] o, float[3] s) {
      o = Sub (w, v) s = Add (v, w) }> (n, x, e) })",
       8);
  for (const auto& lengths : {std::vector<int64_t>{5, 5}, {2, 5}, {0, 3}, {1, 0}})
    expect_exact({Tensor::vector<int64_t>(lengths), ramp({2, 3}), ramp({2, 5, 3}, 2)});
}

TEST_F(PreparedLoop, AnIterationThatFails) {
  read(R"(g (int64 n, float[3] x) => (float y, float[t] ys) {
    zero = Constant <value_float = 0.0> ()
    y, ys = Loop (n, , zero) <body = b (int64 i, bool go, float v) => (bool go_on, float next, float s) {
      go_on = Identity (go) s = Gather (x, i) next = Add (v, s) }> })");
  expect_exact({Tensor::scalar(int64_t{3}), ramp({3})});
  EXPECT_THROW(context_->infer(std::vector<Tensor>{Tensor::scalar(int64_t{4}), ramp({3})}), Error);
  expect_exact({Tensor::scalar(int64_t{2}), ramp({3}, 5)});
}

TEST_F(PreparedLoop, MoreThanThereIsMemoryFor) {
  read(R"(g (int64 n, float[3] x) => (float[t,3] ys) {
    y, ys = Loop (n, , x) <body = b (int64 i, bool go, float[3] v) => (bool go_on, float[3] next, float[3] s) {
      go_on = Identity (go) s = Neg (v) next = Sub (v, x) }> })");
  for (const int64_t trips : {int64_t{1} << 50, INT64_MAX}) {
    SCOPED_TRACE(trips);
    EXPECT_THROW(context_->infer(std::vector<Tensor>{Tensor::scalar(trips), ramp({3})}), Error);
  }
}

// A plan from a stranger may have any body in it.
TEST_F(PreparedLoop, BodiesOfOtherPlansAreRefused) {
  const auto loop = [](const std::string& interface, const std::string& nodes, int extent = 3) {
    return fmt::format(R"(g (float[{0}] x) => (float[{0}] y, float[{0}] z) <int64 n = {{20}}> {{
      y, ys = Loop (n, , x) <body = b (int64 i, bool go, float[{0}] v) => {1} {{ go_on = Identity (go) {2} }}>
      k = Cast <to = 1> (ys) z = ReduceMax <axes = [0], keepdims = 0> (k) }})",
                       extent, interface, nodes);
  };
  const auto saved_with = [&](const std::string& text) {
    read(text);
    return engine_->state().saved;
  };
  const auto plain = "(bool go_on, float[3] next, float[3] s)";
  const engine::SavedEngine own = saved_with(loop(plain, "next = Sub (x, v) s = Neg (v)"));
  const auto with_body_of = [&](const std::string& text) -> std::string {
    const engine::SavedEngine other = saved_with(text);
    engine::SavedEngine forged = own;
    const auto plan = std::make_shared<engine::Plan>(*own.plans.at(0).plan);
    const auto body = [](const engine::Plan& p) {
      for (const engine::Step& s : p.steps)
        if (s.tactic == "control") return static_cast<size_t>(s.networks.at(1));
      ADD_FAILURE() << "no loop";
      return size_t{0};
    };
    const engine::Plan& source = *other.plans.at(0).plan;
    EXPECT_NE(source.networks.at(body(source)).plan, nullptr);
    plan->networks.at(body(*plan)) = source.networks.at(body(source));
    forged.plans[0].plan = plan;
    try {
      const auto context =
          runtime_.deserialize_engine(engine::serialize_engine(forged))->create_execution_context();
      context->infer(std::vector{ramp({3})});
    } catch (const Error& e) {
      EXPECT_NE(e.code(), ErrorCode::kInternal) << e.what();
      return e.what();
    }
    return "it runs";
  };
  EXPECT_EQ(with_body_of(loop(plain, "next = Sub (x, v) s = Abs (v)")), "it runs");
  const auto expect_refused = [&](const std::string& text, const std::string& why) {
    const std::string message = with_body_of(text);
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  // Inputs of another shape, entries of another shape, of another type.
  expect_refused(loop("(bool go_on, float[4] next, float[4] s)", "next = Sub (x, v) s = Neg (v)", 4),
                 "the plan is for other shapes");
  expect_refused(loop("(bool go_on, float[3] next, float[1] s)", "next = Sub (x, v) s = ReduceSum (v)"),
                 "came out as");
  expect_refused(loop("(bool go_on, float[3] next, int32[3] s)", "next = Sub (x, v) s = Cast <to = 6> (v)"),
                 "is int32, not float32");
}

}  // namespace
}  // namespace assay::prepared_loop_test
