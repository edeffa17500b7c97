// Networks in float16 and bfloat16, and weights stored in them.
#include "assay/builder.h"
#include "assay/runtime.h"
#include "backends/engine_fixture.h"

namespace assay::engine_half_test {
namespace {

class EngineHalfTest : public EngineTest {
 protected:
  Value* narrow(Value* v, DType dtype) { return op("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}}); }
  Value* half_weight(const Shape& shape, DType dtype) {
    return g.add_constant(g.unique_name("h"), convert(random(shape), dtype));
  }
  /// Weights in float32 that a narrow type holds exactly.
  Value* exact_weight(const Shape& shape, DType dtype) {
    const float most = dtype == DType::kFloat16 ? 1 : 1e6F;  // beyond float16's range
    return g.add_constant(g.unique_name("w"),
                          convert(convert(random(shape, -most, most), dtype), DType::kFloat32));
  }
  /// The engine's result is within the rounding of `dtype` at the largest magnitude.
  void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted, double unit) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].shape(), wanted[i].shape());
      ASSERT_EQ(got[i].dtype(), g.outputs[i]->type.dtype);
      const Tensor a = convert(got[i], DType::kFloat64), b = convert(wanted[i], DType::kFloat64);
      double top = 1e-3;
      for (const double x : b.span<double>()) top = std::max(top, std::abs(x));
      for (int64_t k = 0; k < a.numel(); ++k)
        ASSERT_NEAR(a.data<double>()[k], b.data<double>()[k], 2 * unit * top) << g.outputs[i]->name();
    }
  }
  /// Variants of the plan's steps: "gemv:float16".
  std::multiset<std::string> steps(engine::Precisions precisions = {}) {
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    engine::BuildConfig config = engine::default_config(2);
    config.precisions = precisions;
    const auto plan = engine::PlanBuilder(*model, config).build(shapes);
    std::multiset<std::string> names;
    for (const engine::Step& s : plan->steps) names.insert(engine::tactic_text(s));
    return names;
  }
};

TEST_F(EngineHalfTest, NetworksOfHalvesRunOnKernels) {
  model->opsets = {{"", 22}};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Value* x =
        g.add_input("x" + std::to_string(feed.size()), Type::tensor(dtype, {Dim(2), Dim(8), Dim(9), Dim(9)}));
    feed.push_back(convert(random({2, 8, 9, 9}), dtype));
    Value* y = op("Relu", {op("Conv", {x, half_weight({16, 8, 3, 3}, dtype), half_weight({16}, dtype)})});
    y = op("MaxPool", {y}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
    y = op("Reshape", {y, ints({2, -1})});
    y = op("Gemm", {y, half_weight({576, 7}, dtype), half_weight({7}, dtype)});
    output(op("Softmax", {y}));
    output(op("Sigmoid", {op("Slice", {y, ints({1}), ints({5}), ints({1})})}));
  }
  infer_shapes(*model);
  const std::multiset<std::string> names = steps();
  EXPECT_EQ(names.count("evaluate"), 0U);
  const std::vector<Tensor> y = run(*open());
  expect_close(y, exact(), 0x1p-8);
  // float16 has three bits more.
  for (size_t i = 0; i < 2; ++i) {
    const Tensor a = convert(y[i], DType::kFloat64), b = convert(exact()[i], DType::kFloat64);
    for (int64_t k = 0; k < a.numel(); ++k) ASSERT_NEAR(a.data<double>()[k], b.data<double>()[k], 0x1p-10);
  }
}

TEST_F(EngineHalfTest, ACastOfTheModelRounds) {
  Value* x = input("x", {1000});
  output(narrow(narrow(x, DType::kFloat16), DType::kFloat32));
  output(op("Mul", {narrow(narrow(x, DType::kBFloat16), DType::kFloat32), scalar(4)}));
  infer_shapes(*model);
  EXPECT_EQ(steps().count("evaluate"), 0U);
  const std::vector<Tensor> y = run(*open());
  for (int64_t i = 0; i < 1000; ++i) {
    const Tensor one = Tensor::scalar(feed[0].data<float>()[i]);
    EXPECT_EQ(y[0].data<float>()[i],
              convert(convert(one, DType::kFloat16), DType::kFloat32).data<float>()[0]);
    EXPECT_EQ(y[1].data<float>()[i],
              4 * convert(convert(one, DType::kBFloat16), DType::kFloat32).data<float>()[0]);
  }
}

TEST_F(EngineHalfTest, WeightsThatLoseNothingAreStoredInSixteenBits) {
  Value* x = input("x", {1, 512});
  Value* y = op("MatMul", {x, exact_weight({512, 640}, DType::kFloat16)});
  output(op("Gemm", {y, exact_weight({300, 640}, DType::kBFloat16)}, {{"transB", int64_t{1}}}));
  output(op("MatMul", {x, weight({512, 640})}));
  expect_agreement();
  EXPECT_EQ(steps(), (std::multiset<std::string>{"gemv", "gemv:bfloat16", "gemv:float16"}));
}

TEST_F(EngineHalfTest, OthersAreRoundedWhereThatIsAllowed) {
  Value* x = input("x", {2, 512});
  output(op("MatMul", {x, weight({512, 640})}));
  infer_shapes(*model);
  EXPECT_EQ(steps(), (std::multiset<std::string>{"gemv"}));
  EXPECT_EQ(steps({.float16 = true}), (std::multiset<std::string>{"gemv:float16"}));
  EXPECT_EQ(steps({.bfloat16 = true}), (std::multiset<std::string>{"gemv:bfloat16"}));
  const Runtime runtime({.threads = 2});
  for (const bool wide : {false, true}) {
    const BuilderConfig config{.optimization_level = 0, .fp16 = !wide, .bf16 = wide};
    const auto engine = runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
    expect_close(engine->create_execution_context()->infer(feed), exact(), wide ? 0x1p-8 : 0x1p-11);
  }
}

}  // namespace
}  // namespace assay::engine_half_test
