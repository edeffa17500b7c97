// The operators' sums: every one that needs a line in sums.def has it, and a line's sums make the element.
#include "ops/sums/sums.h"

#include <cmath>
#include <set>

#include "ops/contrib/contrib_test_util.h"
#include "ops/nn/test_tensors.h"
#include "ops/op_set.h"

namespace assay::sums_test {
namespace {

/// Whether a result's explained error is less than the worst case of all orders because its roundings are
/// assumed to be independent.
bool takes_roundings_for_independent(const OpDef& op) {
  const Numerics& n = op.numerics;
  return n.kind == Numerics::Kind::kAccumulating ||
         (n.kind == Numerics::Kind::kCustom && n.expected != nullptr && n.perturb == nullptr);
}

TEST(SumsOfOperators, EveryOperatorThatAddsUpHasALine) {
  for (const OpDef* op : built_in_ops().all()) {
    const bool has_line = sums_of(*op) != nullptr, has_reason = !why_without_sums(*op).empty();
    EXPECT_TRUE(!takes_roundings_for_independent(*op) || has_line || has_reason)
        << op->domain << " " << op->name
        << ": its bounds take roundings for independent; sums.def says neither what it adds up nor why not";
    EXPECT_TRUE(!has_reason || takes_roundings_for_independent(*op))
        << op->domain << " " << op->name << ": a reason in sums.def that nothing asks for";
  }
}

struct Case {
  const char* op;
  int64_t opset;
  std::vector<Tensor> inputs;
  AttributeList attributes{};
  size_t outputs = 1;
  const char* domain = "";
  size_t judged = 1;  ///< outputs that have sums
};

Tensor ints(const Ints& v) { return Tensor::vector<int64_t>(v); }
Tensor positive(Shape shape, unsigned seed) {
  Tensor t = random_tensor(std::move(shape), seed);
  for (double& x : t.mutable_span<double>()) x = std::fabs(x) + 0.1;
  return t;
}
Tensor from(Shape shape, const Ints& v) {
  return Tensor::from<int64_t>(std::move(shape), std::vector<int64_t>(v.begin(), v.end()));
}

const Tensor kImage = random_tensor({2, 4, 6, 5}, 1), kRows = random_tensor({3, 7}, 2),
             kFour = random_tensor({4}, 3), kOther = random_tensor({4}, 4);

std::vector<Case> cases() {
  const Tensor step = Tensor::scalar<int64_t>(3), length = Tensor::scalar<int64_t>(8);
  const Ints both{2, 3};
  return {
      {"AveragePool", 19, {kImage}, {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 1}}}},
      {"BatchNormalization",
       15,
       {kImage, kFour, kOther, kFour, positive({4}, 5)},
       {{"training_mode", int64_t{1}}, {"momentum", 0.75F}},
       3,
       "",
       3},
      {"Col2Im",
       18,
       {random_tensor({2, 12, 6}, 6), ints({4, 5}), ints({2, 3})},
       {{"strides", Ints{1, 2}}, {"pads", Ints{0, 1, 0, 0}}}},
      {"Col2Im", 18, {random_tensor({1, 4, 16}, 6), ints({5, 5}), ints({2, 2})}},
      {"Conv",
       11,
       {kImage, random_tensor({6, 2, 3, 2}, 7), random_tensor({6}, 8)},
       {{"group", int64_t{2}}, {"pads", Ints{1, 0, 0, 1}}, {"strides", Ints{2, 1}}}},
      {"ConvTranspose", 11, {kImage, random_tensor({4, 3, 3, 2}, 7)}, {{"strides", Ints{2, 1}}}},
      {"CumSum", 14, {kRows, Tensor::scalar<int64_t>(1)}, {{"reverse", int64_t{1}}}},
      {"DFT",
       20,
       {random_tensor({2, 6, 3, 1}, 9), {}, Tensor::scalar<int64_t>(1)},
       {{"onesided", int64_t{1}}}},
      {"DFT",
       20,
       {random_tensor({2, 5, 2}, 9), Tensor::scalar<int64_t>(7), Tensor::scalar<int64_t>(1)},
       {{"inverse", int64_t{1}}}},
      {"DFT",
       20,
       {random_tensor({2, 4, 2}, 9), {}, Tensor::scalar<int64_t>(1)},
       {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}}},
      {"DeformConv",
       19,
       {kImage, random_tensor({2, 4, 2, 2}, 10), random_tensor({2, 16, 5, 4}, 11), random_tensor({2}, 12),
        random_tensor({2, 8, 5, 4}, 13)},
       {{"offset_group", int64_t{2}}}},
      {"Einsum", 12, {kRows, random_tensor({7, 4}, 14)}, {{"equation", std::string("ij,jk->ki")}}},
      {"Gemm", 13, {kRows, random_tensor({4, 7}, 14), kFour}, {{"transB", int64_t{1}}, {"alpha", 0.5F}}},
      {"GlobalAveragePool", 1, {kImage}},
      {"GlobalLpPool", 2, {kImage}},
      {"GroupNormalization", 21, {kImage, kFour, kOther}, {{"num_groups", int64_t{2}}}},
      {"InstanceNormalization", 6, {kImage, kFour, kOther}},
      {"LayerNormalization", 17, {kRows, random_tensor({7}, 15), random_tensor({7}, 16)}, {}, 3, "", 3},
      {"LogSoftmax", 13, {kImage}, {{"axis", int64_t{1}}}},
      {"LpNormalization", 1, {kImage}, {{"axis", int64_t{1}}}},
      {"LpPool", 18, {kImage}, {{"kernel_shape", Ints{3, 2}}}},
      {"MatMul", 13, {random_tensor({2, 1, 3, 4}, 17), random_tensor({5, 4, 2}, 18)}},
      {"MatMul", 13, {kFour, random_tensor({5, 4, 2}, 18)}},
      {"Mean", 13, {kRows, random_tensor({7}, 19)}},
      {"MeanVarianceNormalization", 13, {kImage}},
      {"NegativeLogLikelihoodLoss",
       13,
       {random_tensor({3, 4, 2}, 20), from({3, 2}, {0, 3, 1, 1, 2, 0}), kFour}},
      {"RMSNormalization", 23, {kRows, random_tensor({7}, 15)}},
      {"Range", 11, {Tensor::scalar(0.5), Tensor::scalar(7.0), Tensor::scalar(0.3)}},
      {"ReduceL1", 18, {kImage, ints(both)}},
      {"ReduceL2", 18, {kImage, ints(both)}},
      {"ReduceLogSum", 18, {positive({2, 5}, 21), ints({1})}},
      {"ReduceLogSumExp", 18, {kImage, ints(both)}},
      {"ReduceMean", 18, {kImage, ints({1})}},
      {"ReduceSum", 13, {kImage, ints({0, 2})}},
      {"ReduceSumSquare", 18, {kImage, ints({3})}},
      {"RoiAlign",
       22,
       {kImage, Tensor::from<double>({2, 4}, std::vector<double>{0, 0, 4, 5, 1.5, 0.5, 3.2, 2.9}),
        ints({1, 0})},
       {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}, {"sampling_ratio", int64_t{2}}}},
      {"STFT", 17, {random_tensor({2, 20, 1}, 22), step, positive({8}, 23), length}},
      {"STFT", 17, {random_tensor({2, 20, 2}, 22), step, {}, length}, {{"onesided", int64_t{0}}}},
      {"ScatterElements",
       18,
       {kRows, from({2, 7}, {0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 2, 2, 1, 0}), random_tensor({2, 7}, 24)},
       {{"reduction", std::string("add")}}},
      {"ScatterND",
       18,
       {kRows, from({4, 1}, {2, 0, 2, 2}), random_tensor({4, 7}, 25)},
       {{"reduction", std::string("add")}}},
      {"Softmax", 13, {kImage}, {{"axis", int64_t{1}}}},
      {"SoftmaxCrossEntropyLoss",
       13,
       {random_tensor({3, 4, 2}, 20), from({3, 2}, {0, 3, 1, 1, 2, 0}), kFour},
       {},
       2,
       "",
       2},
      {"SoftmaxCrossEntropyLoss",
       13,
       {random_tensor({3, 4, 2}, 20), from({3, 2}, {0, 3, 1, 1, 2, 0}), kFour},
       {{"reduction", std::string("none")}}},
      {"Sum", 13, {kRows, random_tensor({7}, 19), random_tensor({3, 1}, 20)}},
      {"FusedConv",
       1,
       {kImage, random_tensor({3, 4, 1, 1}, 7), random_tensor({3}, 8), random_tensor({2, 3, 6, 5}, 26)},
       {{"activation", std::string("LeakyRelu")}, {"activation_params", std::vector<float>{0.25F}}},
       1,
       "com.microsoft"},
      {"FusedGemm",
       1,
       {kRows, random_tensor({7, 4}, 14), kFour},
       {{"activation", std::string("Tanh")}},
       1,
       "com.microsoft"},
      {"FusedMatMul",
       1,
       {random_tensor({3, 2, 4}, 27), random_tensor({2, 5, 4}, 28)},
       {{"transBatchA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 2.0F}},
       1,
       "com.microsoft"},
      {"TransposeMatMul",
       1,
       {random_tensor({2, 4, 3}, 27), random_tensor({2, 4, 5}, 28)},
       {{"transA", int64_t{1}}},
       1,
       "com.microsoft"},
  };
}

TEST(SumsOfOperators, MakeTheElements) {
  for (const Case& k : cases()) {
    SCOPED_TRACE(k.op);
    std::vector<bool> present;
    for (const Tensor& t : k.inputs) present.push_back(t.defined());
    const OpTestNode n(k.op, k.opset, present, k.attributes, k.outputs, k.domain);
    EvalContext c(n.node(), n.op(), n.version(), k.inputs);
    n.version().eval(c);
    const std::vector<Tensor> exact(c.outputs().begin(), c.outputs().end());
    for (size_t output = 0; output < k.judged; ++output) {
      const Tensor& y = exact[output];
      std::unordered_map<int64_t, MeasuredSums> rows;
      std::shared_ptr<const void> kept;
      for (int64_t i = 0; i < y.numel(); ++i) {
        SummedElement e;
        e.output = output, e.known = &rows, e.kept = &kept;
        EvalContext again(n.node(), n.op(), n.version(), k.inputs);
        ASSERT_TRUE(sums_of(n.op())(again, i, e)) << "output " << output << ", element " << i;
        MeasuredSums own;
        const MeasuredSums* sums = e.known_row();
        if (sums == nullptr) {
          own = measure(e.sums);
          if (e.row >= 0) rows.emplace(e.row, own);
          sums = &own;
        }
        ASSERT_NEAR(e.result(sums->exact), y.data<double>()[i], 1e-12)
            << "output " << output << ", element " << i;
      }
    }
  }
}

/// Of equal numbers a plain loop cuts off the same remainder at every step, in all elements.
TEST(SumsOfOperators, AreMadeInAnOrder) {
  constexpr int64_t kCount = 3000;
  const Tensor x =
      Tensor::from<double>({2, kCount}, std::vector<double>(2 * kCount, static_cast<double>(0.1F)));
  const OpTestNode n("ReduceSum", 13, {true, true}, {}, 1, "");
  const std::vector<Tensor> inputs{x, ints({1})};
  EvalContext c(n.node(), n.op(), n.version(), inputs);
  n.version().eval(c);
  const Tensor exact = c.outputs()[0];
  float loop = 0;
  for (int64_t i = 0; i < kCount; ++i) loop += 0.1F;
  const auto added = [&](SumOrder order, int64_t left) {
    EvalContext again(n.node(), n.op(), n.version(), inputs);
    return with_sums_in_order(again, sums_of(n.op()), 0, exact, order, left).data<double>()[1];
  };
  EXPECT_NEAR(added(SumOrder::kForward, INT64_MAX), static_cast<double>(loop), 1e-9);
  EXPECT_NE(added(SumOrder::kLanes, INT64_MAX), added(SumOrder::kForward, INT64_MAX));
  EXPECT_EQ(added(SumOrder::kForward, kCount), exact.data<double>()[1]) << "too many addends";
}

/// A line whose sums no case above compares with the operator is not tested.
TEST(SumsOfOperators, EveryLineHasACase) {
  std::set<std::string> tested;
  for (const Case& k : cases()) tested.insert(std::string(k.domain) + "." + k.op);
  for (const OpDef* op : built_in_ops().all())
    EXPECT_TRUE(sums_of(*op) == nullptr ||
                tested.contains(std::string(op->domain) + "." + std::string(op->name)))
        << op->name;
}

}  // namespace
}  // namespace assay::sums_test
