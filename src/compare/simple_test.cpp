// Verdicts of the default comparison.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/simple.h"
#include "tensor/convert.h"

namespace assay::simple_test {
namespace {

struct Outcome {
  OutputResult verdict;
  std::string log;

  const SimpleMetrics& errors() const { return std::get<SimpleMetrics>(verdict.metrics); }
};
Outcome compare(const Tensor& a, const Tensor& b, SimpleOptions options = {}) {
  const log::Capture capture;
  const PairResult r =
      print_comparison(std::make_shared<SimpleComparison>(std::move(options)), {{"y", a}}, {{"y", b}});
  return {r.functions.at(0).outputs.at(0), capture.out()};
}
bool passes(const Tensor& a, const Tensor& b, SimpleOptions options = {}) {
  return compare(a, b, std::move(options)).verdict.passed;
}
bool contains(const Outcome& outcome, const std::string& line) {
  return outcome.log.find(line) != std::string::npos;
}

const Tensor& ramp() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 4});
  return t;
}
const Tensor& other() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 5});
  return t;
}

// The errors of ramp() and other(): absolute 0 0 0 1, relative 0 0 0 0.2.
TEST(Simple, EachStatisticIsHeldAgainstItsTolerances) {
  const auto options = [](ErrorStat stat, double atol, double rtol) {
    SimpleOptions o{.rtol = Tolerance(rtol), .atol = Tolerance(atol), .check_error_stat = stat};
    o.error_quantile.set("y", 0.8);
    return o;
  };
  const std::vector<std::tuple<ErrorStat, double, double>> limits = {{ErrorStat::kElemwise, 1, 0.2f},
                                                                     {ErrorStat::kMax, 1, 0.2f},
                                                                     {ErrorStat::kMean, 0.25, 0.05f},
                                                                     {ErrorStat::kMedian, 0, 0},
                                                                     {ErrorStat::kQuantile, 0.4f, 0.08f}};
  for (const auto& [stat, atol, rtol] : limits) {
    SCOPED_TRACE(error_stat_name(stat));
    EXPECT_TRUE(passes(ramp(), other(), options(stat, atol, 0)));
    EXPECT_TRUE(passes(ramp(), other(), options(stat, 0, rtol * 1.0001)));
    if (stat == ErrorStat::kMedian) continue;
    EXPECT_FALSE(passes(ramp(), other(), options(stat, atol * 0.999, rtol * 0.999)));
  }
}

TEST(Simple, ElementsMustExceedBothTolerancesAtOnce) {
  const Tensor a = Tensor::vector<float>({0.011f, 1000.5f}), b = Tensor::vector<float>({0.01f, 1000});
  EXPECT_TRUE(passes(a, b, {.rtol = Tolerance(0.01), .atol = Tolerance(0.01)}));
  EXPECT_FALSE(
      passes(a, b, {.rtol = Tolerance(0.01), .atol = Tolerance(0.01), .check_error_stat = ErrorStat::kMax}));
}

TEST(Simple, ResultsCarryTheErrors) {
  const Outcome elemwise = compare(ramp(), other());
  EXPECT_FALSE(elemwise.verdict.passed);
  EXPECT_EQ(elemwise.errors().max_absdiff, 1);
  EXPECT_FLOAT_EQ(elemwise.errors().max_reldiff, 0.2f);
  EXPECT_EQ(elemwise.errors().mean_absdiff, 0.25);
  EXPECT_EQ(elemwise.errors().median_absdiff, 0);
  EXPECT_EQ(elemwise.errors().absolute(ErrorStat::kElemwise), 1);
  EXPECT_FALSE(elemwise.errors().quantile_absdiff.has_value());
  const Outcome quantile =
      compare(ramp(), other(), {.check_error_stat = ErrorStat::kQuantile, .error_quantile = 0.5});
  EXPECT_EQ(quantile.errors().quantile_absdiff, 0);
  EXPECT_EQ(quantile.errors().relative(ErrorStat::kQuantile), 0);
  EXPECT_TRUE(
      contains(quantile, "Minimum Required Tolerance: quantile error | [abs=0] OR [rel=0] (quantile=0.5)\n"));
}

TEST(Simple, TolerancesPerOutput) {
  SimpleOptions options;
  options.atol.set("y", 2);
  options.atol.set("", 1e-9);
  const Outcome o = compare(ramp(), other(), options);
  EXPECT_TRUE(o.verdict.passed);
  EXPECT_TRUE(contains(o, "[I]     Tolerance: [abs=2, rel=1e-05] | Checking elemwise error\n"));
  EXPECT_TRUE(contains(o, "is within tolerance (rel=1e-05, abs=2)\n"));
}

TEST(Simple, WarnsAboutNamesThatNoOutputHas) {
  const log::Capture capture;
  SimpleOptions options;
  options.atol.set("z", 1);
  options.check_error_stat = ErrorStat::kMax;
  print_comparison(std::make_shared<SimpleComparison>(options), {{"y", ramp()}}, {{"x", ramp()}});
  EXPECT_EQ(capture.out().substr(0, capture.out().find("[W] Output names")),
            "[W] Extra items in the atol dictionary: {'z'}.\n"
            "    Note: items requested were: {'y', 'x', ''}, but all items are: {'z'}\n");
}

TEST(Simple, TakesTheToleranceOfAPatternAndSuggestsNames) {
  const log::Capture capture;
  SimpleOptions options;
  options.atol.set("out*", 1);
  options.rtol.set("first_outt", 1);
  options.rtol.set("re:second.*", 1);
  const TensorList list = {{"output", ramp()}, {"first_out", ramp()}};
  print_comparison(std::make_shared<SimpleComparison>(options), list, list);
  EXPECT_EQ(capture.out().substr(0, capture.out().find("[I] simple")),
            "[W] Extra items in the rtol dictionary: {'first_outt', 're:second.*'}.\n"
            "    Note: items requested were: {'output', 'first_out', ''}, but all items are: {'first_outt', "
            "'re:second.*'}\n    Did you mean 'first_out'?\n");
}

TEST(Simple, ShapesMustMatch) {
  const Outcome o = compare(Tensor::zeros(DType::kFloat32, {2, 3}), Tensor::zeros(DType::kFloat32, {3, 2}));
  EXPECT_FALSE(o.verdict.passed);
  EXPECT_TRUE(contains(o,
                       "[I]     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error\n"
                       "[E]     FAILED | Output: `y` | Will not compare outputs of different shapes.\n"
                       "        Note: Output shapes are (2, 3) and (3, 2).\n"
                       "[E]     Note: set check_shapes=False to attempt to compare values anyway.\n"));
}

TEST(Simple, WithoutShapeCheckTheSecondOutputIsAdapted) {
  const Tensor a = Tensor::from(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor transposed = Tensor::from(Shape{3, 2}, std::vector<float>{1, 4, 2, 5, 3, 6});
  const Outcome o = compare(a, transposed, {.check_shapes = false});
  EXPECT_TRUE(o.verdict.passed);
  EXPECT_TRUE(contains(o, "[I]     Permuted array of shape: (3, 2) to: (2, 3) using permutation [1, 0]\n"));
  const Outcome hopeless = compare(a, ramp(), {.check_shapes = false});
  EXPECT_FALSE(hopeless.verdict.passed);
  EXPECT_TRUE(
      contains(hopeless, "[E]     FAILED | Output: `y` | Will not compare outputs of different shapes.\n"));
}

TEST(Simple, WarnsOnceAboutZeros) {
  const log::Capture capture;
  const Tensor zero = Tensor::vector<float>({0, 1}), nan = Tensor::vector<float>({NAN, 0});
  const auto comparison = std::make_shared<SimpleComparison>(SimpleOptions{});
  for (int i = 0; i < 2; ++i) print_comparison(comparison, {{"y", zero}}, {{"y", zero}});
  print_comparison(comparison, {{"nan", nan}}, {{"nan", nan}});
  const Tensor whole = Tensor::vector<int32_t>({0});
  print_comparison(comparison, {{"int", whole}}, {{"int", whole}});
  const std::string log = capture.out();
  const auto warning = [](const std::string& name) {
    return "[W]     B                                   | Output: " + name +
           ": Some values are 0. Will add a small epsilon quantity to these when computing relative "
           "difference. Note "
           "that this may cause some relative differences to be extremely high. \n";
  };
  EXPECT_EQ(log.find(warning("y")), log.rfind("[W]     B                                   | Output: y:"))
      << log;
  EXPECT_NE(log.find(warning("nan")), log.npos) << log;
  EXPECT_EQ(log.find("Output: int:"), log.npos) << log;
}

TEST(Simple, EmptyOutputsPassWhateverIsChecked) {
  const Tensor empty = Tensor::allocate(DType::kFloat32, {0, 3});
  for (const ErrorStat stat : {ErrorStat::kElemwise, ErrorStat::kMean, ErrorStat::kQuantile})
    EXPECT_TRUE(passes(empty, empty, {.check_error_stat = stat}));
  EXPECT_TRUE(contains(compare(empty, empty),
                       "A: y | Stats: mean=nan, std-dev=0, var=0, median=0, min=0 at 0, max=0 at 0, "
                       "avg-magnitude=nan, p90=inf, p95=inf, p99=inf\n"));
}

TEST(Simple, UnsignedDifferencesDoNotWrapAround) {
  const Outcome o =
      compare(Tensor::vector<uint64_t>({1}), Tensor::vector<uint64_t>({2}), {.atol = Tolerance(1)});
  EXPECT_TRUE(o.verdict.passed);
  EXPECT_EQ(o.errors().max_absdiff, 1);
}

TEST(Simple, NarrowTypes) {
  const Tensor a = convert(Tensor::vector<float>({1, 2}), DType::kBFloat16);
  EXPECT_TRUE(passes(a, a));
  EXPECT_TRUE(passes(a, Tensor::vector<float>({1, 2})));
  const uint8_t bytes[] = {0x21};
  const Tensor packed = Tensor::view(DType::kInt4, Shape{2}, bytes, nullptr);
  EXPECT_TRUE(passes(packed, Tensor::vector<int8_t>({1, 2})));
  EXPECT_FALSE(passes(packed, Tensor::vector<int8_t>({1, 3})));
}

TEST(Simple, StringsAreComparedForEquality) {
  const Tensor a = Tensor::vector<std::string>({"x", "y"}), b = Tensor::vector<std::string>({"x", "z"});
  EXPECT_TRUE(contains(compare(a, a), "[I]     PASSED | Output: 'y' | All 2 strings are equal\n"));
  EXPECT_TRUE(contains(compare(a, b), "[E]     FAILED | Output: 'y' | 1 of 2 strings differ\n"));
  EXPECT_TRUE(contains(compare(a, Tensor::vector<float>({1, 2})),
                       "[E]     FAILED | Output: 'y' | Cannot compare string with float32 outputs.\n"));
}

TEST(Simple, RefusesAnImpossibleQuantile) {
  const log::Capture capture;
  EXPECT_THROW(passes(ramp(), other(), {.check_error_stat = ErrorStat::kQuantile, .error_quantile = 1.5}),
               Error);
}

TEST(Simple, NamesOfStatistics) {
  for (const ErrorStat stat :
       {ErrorStat::kMax, ErrorStat::kMean, ErrorStat::kMedian, ErrorStat::kElemwise, ErrorStat::kQuantile})
    EXPECT_EQ(error_stat_from_name(error_stat_name(stat)), stat);
  EXPECT_EQ(error_stat_from_name("Max"), std::nullopt);
}

/// Records the requested plots.
class Sketches : public ErrorPictures {
 public:
  void draw_errors(const OutputPair& pair, const ErrorArrays&) override {
    log::info("errors of {}", pair.name0);
  }
  void draw_heatmap(const std::string& title, const Numbers&, const Statistics&, bool log_scale) override {
    log::info("{} {}", title, log_scale);
  }
};

TEST(Simple, PicturesAreDrawnBetweenTheLines) {
  const log::Capture capture;
  ComparisonText text(std::make_shared<Sketches>());
  const std::vector<std::shared_ptr<const Comparison>> functions = {
      std::make_shared<SimpleComparison>(SimpleOptions{})};
  compare_iteration(functions, OutputList("A", {{"y", ramp()}}), OutputList("B", {{"y", ramp()}}), {}, text);
  const std::string log = capture.out();
  const size_t errors = log.find("[I]             errors of y\n[I]         Absolute Difference");
  const size_t absolute =
      log.find("[I]             Absolute Error | y false\n[I]         Relative Difference");
  const size_t relative = log.find("[I]             Relative Error | y true\n[I]     PASSED");
  EXPECT_LT(errors, absolute) << log;
  EXPECT_LT(absolute, relative) << log;
  EXPECT_NE(relative, log.npos) << log;
}

}  // namespace
}  // namespace assay::simple_test
