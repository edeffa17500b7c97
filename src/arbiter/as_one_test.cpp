// What several nodes give that were computed as one, although what lies between is handed out.
#include "arbiter/as_one.h"

#include <cmath>

#include "arbiter/arbiter_test_util.h"
#include "tensor/convert.h"

namespace assay::as_one_test {
namespace {

constexpr double kU = 0x1p-24;

/// x c + y s, where the two products nearly cancel.
struct Rotation {
  TestModel m;
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  StoredTensorList results;

  Rotation() {
    const Shape shape{64};
    Value *a = m.node("Mul", "a", {m.input("x", shape), m.input("c", shape)}),
          *b = m.node("Mul", "b", {m.input("y", shape), m.input("s", shape)});
    model = m.with_outputs({a, b, m.node("Add", "sum", {a, b})});
    const Tensor x = random_floats(shape, 1, 1, 2), c = random_floats(shape, 2, 1, 2);
    Tensor y = random_floats(shape, 3, -1.001F, -0.999F);
    for (int64_t i = 0; i < y.numel(); ++i) y.mutable_data<float>()[i] *= x.data<float>()[i];
    feed = {x, c, y, c};
    results = results_of(*model, feed);
  }
  double number(size_t input, int64_t i) const { return static_cast<double>(feed[input].data<float>()[i]); }
  /// Of a sum that is `fused(i)` at each element.
  template <typename F>
  ArbiterVerdict verdict(F fused) const {
    Tensor sum = Tensor::allocate(DType::kFloat32, {64});
    for (int64_t i = 0; i < 64; ++i) sum.mutable_data<float>()[i] = static_cast<float>(fused(i));
    return judge(model, feed, {results[0], results[1], {"sum", sum}}).outputs.back();
  }
};

TEST(AsOne, AProductNeedNotBeRoundedBeforeItIsAdded) {
  const Rotation r;
  const Tensor a = to_float64(r.results[0].tensor.load()), b = to_float64(r.results[1].tensor.load());
  const auto first = [&](int64_t i) { return r.number(0, i) * r.number(1, i) + b.data<double>()[i]; };
  const auto second = [&](int64_t i) { return r.number(2, i) * r.number(3, i) + a.data<double>()[i]; };
  EXPECT_EQ(r.verdict(first).verdict, Verdict::kRounding);
  EXPECT_EQ(r.verdict(first).excuses, std::vector<std::string>{"computed-at-once"});
  EXPECT_NE(r.verdict(first).note.find("multiply-add"), std::string::npos);
  EXPECT_EQ(r.verdict(second).verdict, Verdict::kRounding);
  const auto either = [&](int64_t i) { return i % 16 < 8 ? first(i) : second(i); };
  EXPECT_EQ(r.verdict(either).verdict, Verdict::kRounding) << "in other vectors the other one";
  const auto off = [&](int64_t i) { return first(i) + (i == 5 ? 8 * kU : 0); };
  EXPECT_EQ(r.verdict(off).verdict, Verdict::kWrong) << "a few roundings of a product that is near 2";
}

TEST(AsOne, AConstantMayScaleAnActivationFunction) {
  TestModel m;
  Value* x = m.input("x", {64});
  Value* e =
      m.node("Erf", "e", {m.node("Mul", "scaled", {x, m.constant("root", Tensor::scalar(std::sqrt(0.5F)))})});
  Value* product =
      m.node("Mul", "product", {x, m.node("Add", "one", {e, m.constant("1", Tensor::scalar(1.0F))})});
  Value* y = m.node("Mul", "y", {product, m.constant("half", Tensor::scalar(0.5F))});
  const auto model = m.with_outputs({product, y});
  const std::vector<Tensor> feed{random_floats({64}, 1, -3, -2)};
  StoredTensorList results = results_of(*model, feed);
  std::erase_if(results, [](const auto& r) { return r.name != "product"; });
  const auto verdict = [&](double factor) {
    Tensor gelu = Tensor::allocate(DType::kFloat32, {64});
    for (int64_t i = 0; i < 64; ++i) {
      const auto v = static_cast<double>(feed[0].data<float>()[i]);
      gelu.mutable_data<float>()[i] = static_cast<float>(factor * v * std::erfc(-v * std::sqrt(0.5)) / 2);
    }
    return judge(model, feed, {results[0], {"y", gelu}}).outputs.back();
  };
  EXPECT_EQ(verdict(1).verdict, Verdict::kRounding);
  EXPECT_EQ(verdict(1).excuses, std::vector<std::string>{"computed-at-once"});
  EXPECT_EQ(verdict(1.001).verdict, Verdict::kWrong);
}

}  // namespace
}  // namespace assay::as_one_test
