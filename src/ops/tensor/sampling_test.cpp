// Operators that sort, draw, fold and sample.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op_test_util.h"

namespace assay::sampling_test {
namespace {

using Ints = std::vector<int64_t>;

Tensor ints(Ints values) { return Tensor::vector(values); }
Tensor grid(Shape shape, std::vector<double> values) {
  return Tensor::from<double>(std::move(shape), values);
}

std::vector<double> numbers(const Tensor& t) { return {t.data<double>(), t.data<double>() + t.numel()}; }

TEST(Unique, SortsOrKeepsTheOrderOfOccurrence) {
  const Tensor x = ints({2, 1, 1, 3, 4, 3});
  const auto sorted = run_op("Unique", 11, {x}, {}, 4);
  EXPECT_EQ(sorted[0].to_int64(), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(sorted[1].to_int64(), (Ints{1, 0, 3, 4}));
  const auto kept = run_op("Unique", 11, {x}, {{"sorted", int64_t{0}}}, 4);
  EXPECT_EQ(kept[0].to_int64(), (Ints{2, 1, 3, 4}));
  EXPECT_EQ(kept[1].to_int64(), (Ints{0, 1, 3, 4}));
  EXPECT_EQ(kept[2].to_int64(), (Ints{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(kept[3].to_int64(), (Ints{1, 2, 2, 1}));
}

TEST(Unique, TakesSubtensorsStringsAndNans) {
  const Tensor m = Tensor::from<int64_t>({2, 3}, {3, 1, 3, 4, 2, 4});
  const auto columns = run_op("Unique", 11, {m}, {{"axis", int64_t{-1}}}, 3);
  EXPECT_EQ(columns[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(columns[0].to_int64(), (Ints{1, 3, 2, 4}));
  EXPECT_EQ(columns[2].to_int64(), (Ints{1, 0, 1}));
  EXPECT_EQ(run_op("Unique", 11, {Tensor::vector<std::string>({"b", "a", "b"})})[0].span<std::string>()[0],
            "a");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(run_op("Unique", 11, {Tensor::vector<double>({nan, 1, nan, -0.0, 0.0})}, {}, 4)[3].to_int64(),
            (Ints{2, 1, 2}));
  EXPECT_EQ(run_op("Unique", 11, {convert(Tensor::vector<float>({2, 1, 2}), DType::kComplex64)}, {}, 2)[1]
                .to_int64(),
            (Ints{1, 0}));
}

TEST(Compress, TakesWhatTheConditionSays) {
  const Tensor x = Tensor::from<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor condition = Tensor::vector<bool>({false, true});
  EXPECT_EQ(run_op("Compress", 11, {x, condition}, {{"axis", int64_t{0}}})[0].to_int64(), (Ints{3, 4}));
  EXPECT_EQ(run_op("Compress", 11, {x, condition}, {{"axis", int64_t{-1}}})[0].to_int64(), (Ints{2, 4, 6}));
  EXPECT_EQ(run_op("Compress", 11, {x, condition})[0].to_int64(), Ints{2});
  EXPECT_THROW(run_op("Compress", 11, {x, Tensor::vector<bool>({true, true, true})}, {{"axis", int64_t{1}}}),
               Error);
}

TEST(ReverseSequence, ReversesEachLength) {
  const Tensor x = Tensor::from<int64_t>({3, 2}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(run_op("ReverseSequence", 10, {x, ints({3, 2})})[0].to_int64(), (Ints{4, 3, 2, 1, 0, 5}));
  const AttributeList swapped = {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}};
  EXPECT_EQ(run_op("ReverseSequence", 10, {x, ints({2, 0, 1})}, swapped)[0].to_int64(),
            (Ints{1, 0, 2, 3, 4, 5}));
  EXPECT_THROW(run_op("ReverseSequence", 10, {x, ints({4, 0})}), Error);
  EXPECT_THROW(run_op("ReverseSequence", 10, {x, ints({1})}), Error);
  EXPECT_THROW(run_op("ReverseSequence", 10, {x, ints({1, 1})}, {{"time_axis", int64_t{1}}}), Error);
}

TEST(CenterCropPad, KeepsTheOddOneOnTheRight) {
  const Tensor x = ints({1, 2, 3, 4});
  EXPECT_EQ(run_op("CenterCropPad", 18, {x, ints({1})})[0].to_int64(), Ints{2});
  EXPECT_EQ(run_op("CenterCropPad", 18, {x, ints({7})})[0].to_int64(), (Ints{0, 1, 2, 3, 4, 0, 0}));
  EXPECT_THROW(run_op("CenterCropPad", 18, {x, ints({-1})}), Error);
  EXPECT_THROW(run_op("CenterCropPad", 18, {x, ints({int64_t{1} << 50})}), Error);
}

TEST(Col2Im, AddsOverlappingBlocks) {
  // Blocks of 1x2 in a 1x3 image: the middle element belongs to both.
  const Tensor x = Tensor::from<double>({1, 2, 2}, {1, 2, 10, 20});
  EXPECT_EQ(numbers(run_op("Col2Im", 18, {x, ints({1, 3}), ints({1, 2})})[0]),
            (std::vector<double>{1, 12, 20}));
  EXPECT_THROW(run_op("Col2Im", 18, {x, ints({1, 4}), ints({1, 2})}), Error);
  EXPECT_THROW(run_op("Col2Im", 18, {x, ints({1, 3}), ints({1, 4})}), Error);
  EXPECT_THROW(run_op("Col2Im", 18, {x, ints({1, 3}), ints({1, 0})}), Error);
  EXPECT_THROW(run_op("Col2Im", 18, {x, ints({1, 3}), ints({1, 2})}, {{"pads", Ints{0, 0, -1, 0}}}), Error);
}

TEST(BitCast, KeepsTheBits) {
  EXPECT_EQ(run_op("BitCast", 26, {Tensor::scalar(1.0f)}, {{"to", int64_t{6}}})[0].item<int32_t>(),
            0x3f800000);
  EXPECT_THROW(run_op("BitCast", 26, {Tensor::scalar(1.0f)}, {{"to", int64_t{7}}}), Error);
  EXPECT_THROW(run_op("BitCast", 26, {Tensor::scalar(1.0f)}, {{"to", int64_t{8}}}), Error);
}

TEST(BitCast, TakesTheBitsOfTheDeclaredTypeFromAnIdealValue) {
  const OpTestNode n("BitCast", 26, {true}, {{"to", int64_t{6}}}, 1, "");
  n.node().input(0)->type = Type::tensor(DType::kFloat32);
  EvalContext c(n.node(), n.op(), n.version(), {Tensor::scalar(1.0)});
  c.ideal = true;
  n.version().eval(c);
  EXPECT_EQ(c.outputs()[0].item<int32_t>(), 0x3f800000);
}

TEST(TensorScatter, WritesFromEachIndexOn) {
  const Tensor cache = Tensor::from<int64_t>({2, 3, 1}, {0, 0, 0, 0, 0, 0});
  const Tensor update = Tensor::from<int64_t>({2, 2, 1}, {1, 2, 3, 4});
  EXPECT_EQ(run_op("TensorScatter", 24, {cache, update, ints({1, 0})})[0].to_int64(),
            (Ints{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(run_op("TensorScatter", 24, {cache, update, ints({2, 4})}, {{"mode", "circular"}})[0].to_int64(),
            (Ints{2, 0, 1, 0, 3, 4}));
  EXPECT_THROW(run_op("TensorScatter", 24, {cache, update, ints({2, 0})}), Error);
  EXPECT_THROW(run_op("TensorScatter", 24, {cache, update, ints({-1, 0})}), Error);
  EXPECT_THROW(run_op("TensorScatter", 24, {cache, update, ints({0})}), Error);
  EXPECT_THROW(run_op("TensorScatter", 24, {cache, update}, {{"axis", int64_t{0}}}), Error);
}

TEST(AffineGrid, RunsBetweenCentresOrEdges) {
  const Tensor identity = grid({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  const auto x = [&](int64_t align, int64_t width) {
    const Tensor y =
        run_op("AffineGrid", 20, {identity, ints({1, 1, 1, width})}, {{"align_corners", align}})[0];
    std::vector<double> out;
    for (int64_t i = 0; i < width; ++i) out.push_back(y.data<double>()[2 * i]);
    return out;
  };
  EXPECT_EQ(x(1, 3), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(x(0, 2), (std::vector<double>{-0.5, 0.5}));
  EXPECT_EQ(x(1, 1), std::vector<double>{0});
  EXPECT_THROW(run_op("AffineGrid", 20, {identity, ints({2, 1, 1, 1})}), Error);
}

TEST(GridSample, PadsThreeWays) {
  const Tensor image = grid({1, 1, 1, 3}, {1, 2, 4});
  // With align_corners the x coordinates are -2, 0.5, 2 and 3 times the distance of the elements.
  const Tensor places = grid({1, 1, 4, 2}, {-3, 0, -0.5, 0, 1, 0, 2, 0});
  const auto sampled = [&](const char* padding, const char* mode) {
    return numbers(run_op("GridSample", 20, {image, places},
                          {{"padding_mode", padding}, {"mode", mode}, {"align_corners", int64_t{1}}})[0]);
  };
  EXPECT_EQ(sampled("zeros", "linear"), (std::vector<double>{0, 1.5, 4, 0}));
  EXPECT_EQ(sampled("border", "linear"), (std::vector<double>{1, 1.5, 4, 4}));
  EXPECT_EQ(sampled("reflection", "linear"), (std::vector<double>{4, 1.5, 4, 2}));
  EXPECT_EQ(sampled("zeros", "nearest"), (std::vector<double>{0, 1, 4, 0})) << "half goes to even";
  EXPECT_THROW(sampled("wrap", "linear"), Error);
  EXPECT_THROW(sampled("zeros", "bilinear"), Error) << "the name before opset 20";
}

TEST(GridSample, GivesNanForAPlaceThatIsNone) {
  const Tensor image = grid({1, 1, 1, 1}, {1}), place = grid({1, 1, 1, 2}, {std::nan(""), 0});
  EXPECT_TRUE(std::isnan(numbers(run_op("GridSample", 20, {image, place})[0])[0]));
  EXPECT_THROW(run_op("GridSample", 20, {image, grid({2, 1, 1, 2}, {0, 0, 0, 0})}), Error);
}

TEST(GridSample, TheBoundCoversFloat32) {
  std::vector<double> values, at;
  for (int i = 0; i < 64; ++i) values.push_back(static_cast<float>(std::sin(i * i)));
  for (int i = 0; i < 40; ++i) at.push_back(static_cast<float>(std::cos(i * 1.7) * 1.1));
  const Tensor image = grid({1, 1, 8, 8}, values), places = grid({1, 4, 5, 2}, at);
  const OpTestNode n("GridSample", 20, {true, true}, {}, 1, "");
  EvalContext c(n.node(), n.op(), n.version(), {image, places});
  n.version().eval(c);
  const Tensor y = c.outputs()[0], bound = n.op().numerics.bound(c, 0x1p-24, 0, y);
  for (int64_t p = 0; p < 20; ++p) {
    const float x = ((static_cast<float>(at[2 * p]) + 1) * 8 - 1) / 2,
                row = ((static_cast<float>(at[2 * p + 1]) + 1) * 8 - 1) / 2;
    float sum = 0;
    for (int dy = 0; dy < 2; ++dy)
      for (int dx = 0; dx < 2; ++dx) {
        const float fx = std::floor(x) + static_cast<float>(dx),
                    fy = std::floor(row) + static_cast<float>(dy);
        if (fx < 0 || fx > 7 || fy < 0 || fy > 7) continue;
        sum += static_cast<float>(values[static_cast<size_t>(fy * 8 + fx)]) * (1 - std::abs(x - fx)) *
               (1 - std::abs(row - fy));
      }
    EXPECT_LE(std::abs(sum - y.data<double>()[p]), bound.data<double>()[p]) << p;
    EXPECT_LT(bound.data<double>()[p], 1e-4);
  }
}

TEST(Random, TheSeedDecides) {
  const AttributeList seeded = {{"shape", Ints{3}}, {"seed", 0.0f}};
  // numpy.random.RandomState(0).rand(3) and .randn(3).
  EXPECT_EQ(numbers(run_op("RandomUniform", 22, {}, seeded)[0]),
            (std::vector<double>{0.5488135039273248, 0.7151893663724195, 0.6027633760716439}));
  EXPECT_EQ(numbers(run_op("RandomNormal", 22, {}, seeded)[0]),
            (std::vector<double>{1.764052345967664, 0.4001572083672233, 0.9787379841057392}));
  const Tensor like = Tensor::zeros(DType::kFloat32, {2});
  EXPECT_EQ(
      numbers(run_op("RandomUniformLike", 22, {like}, {{"seed", 0.0f}, {"low", 2.0f}, {"high", 2.0f}})[0]),
      (std::vector<double>{2, 2}));
  EXPECT_EQ(infer_op("RandomNormalLike", 22, {like}, {{"dtype", int64_t{11}}}).str(), "float64[2]");
  EXPECT_THROW(run_op("RandomNormal", 22, {}, {{"shape", Ints{-1}}}), Error);
  EXPECT_THROW(run_op("RandomNormal", 22, {}, {{"shape", Ints{1 << 30, 1 << 30}}}), Error);
  EXPECT_THROW(run_op("RandomNormal", 22, {}, {{"shape", Ints{1}}, {"scale", -1.0f}}), Error);
}

TEST(Random, DrawsFollowTheProbabilities) {
  const AttributeList seed = {{"seed", 1.0f}};
  EXPECT_EQ(numbers(run_op("Bernoulli", 22, {Tensor::vector<double>({0, 1, 0, 1})}, seed)[0]),
            (std::vector<double>{0, 1, 0, 1}));
  EXPECT_THROW(run_op("Bernoulli", 22, {Tensor::vector<double>({1.5})}, seed), Error);
  EXPECT_THROW(run_op("Bernoulli", 22, {Tensor::vector<double>({std::nan("")})}, seed), Error);
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor y = run_op("Multinomial", 22, {Tensor::from<double>({1, 3}, {0, never, std::log(3)})},
                          {{"seed", 1.0f}, {"sample_size", int64_t{4000}}})[0];
  int64_t counts[3] = {};
  for (const int64_t k : y.to_int64()) ++counts[k];
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(static_cast<double>(counts[2]) / 4000, 0.75, 0.03);
  EXPECT_THROW(run_op("Multinomial", 22, {Tensor::from<double>({1, 1}, {never})}), Error);
}

TEST(Dropout, IsTheIdentityUnlessItTrains) {
  const Tensor x = Tensor::vector<double>({1, 2, 3, 4});
  const auto inference = run_op("Dropout", 13, {x, Tensor::scalar(0.9)}, {}, 2);
  EXPECT_EQ(numbers(inference[0]), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(inference[1].to_int64(), (Ints{1, 1, 1, 1}));
  const auto training =
      run_op("Dropout", 13, {x, Tensor::scalar(0.6), Tensor::scalar(true)}, {{"seed", int64_t{0}}}, 2);
  EXPECT_EQ(training[1].to_int64(), (Ints{0, 1, 1, 0})) << "RandomState(0) draws 0.55, 0.72, 0.60, 0.54";
  EXPECT_EQ(numbers(training[0]), (std::vector<double>{0, 5, 7.5, 0}));
  EXPECT_THROW(run_op("Dropout", 13, {x, Tensor::scalar(1.0), Tensor::scalar(true)}), Error);
  EXPECT_EQ(run_op("Dropout", 7, {x}, {}, 2)[1].dtype(), DType::kFloat64)
      << "the first mask had the data's type";
}

}  // namespace
}  // namespace assay::sampling_test
