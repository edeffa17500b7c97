// Every excuse by its name: a result that is accepted with it, and not without it.
#include "arbiter/excuse_list.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arbiter/arbiter_test_util.h"
#include "assay/error.h"
#include "ops/eval_util.h"
#include "tensor/convert.h"

namespace assay::excuse_list_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A runner's results, of which the last one needs the excuse.
struct Result {
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  StoredTensorList given;
};

struct Case {
  std::string_view name;
  Result (*make)();
  std::vector<std::string> beside = {};  ///< others that explain it, too, and are off
};

Tensor narrow(const std::vector<float>& x, Shape shape, DType type) {
  return convert(Tensor::from<float>(shape, x), type);
}

Tensor with(const Tensor& t, int64_t at, double value) {
  Tensor wide = convert(t, DType::kFloat64);
  wide = map_elements<double>(wide, [](double x) { return x; });
  wide.mutable_data<double>()[at] = value;
  return convert(wide, t.dtype());
}

Result decided_shape() {  // an element lies on the threshold, up to the rounding of its product
  TestModel m;
  Value* h = m.node("Mul", "h", {m.input("x", {8}), m.constant("k", Tensor::scalar(1 / 3.0F))});
  const auto threshold = static_cast<float>(double{1.7F} * double{1 / 3.0F});
  Value* above = m.node("Greater", "above", {h, m.constant("t", Tensor::scalar(threshold))});
  const auto model = m.with_outputs({m.node("NonZero", "y", {above})});
  const std::vector<Tensor> feed{Tensor::vector<float>({1, 2, 1.7F, 3, 1.7F, 0, 1.7F, 4})};
  return {model, feed, {results_of(*model, feed).back()}};
}

Result random_before() {
  TestModel m;
  Value* drawn = m.node("RandomNormalLike", "drawn", {m.input("x", {8})});
  return {
      m.with_outputs({m.node("Neg", "y", {drawn})}), {random_floats({8}, 1)}, {{"y", random_floats({8}, 3)}}};
}

Result nan_of_model() {
  TestModel m;
  Value* root = m.node("Sqrt", "root", {m.input("x", {2})});
  return {m.with_outputs({m.node("Relu", "y", {root})}),
          {Tensor::vector<float>({-1, 4})},
          {{"y", Tensor::vector<float>({7, 2})}}};
}

Result unknown_cast() {
  TestModel m;
  Value* h = m.node("Mul", "h",
                    {m.input("x", {2}, DType::kFloat16), m.constant("k", narrow({7}, {}, DType::kFloat16))});
  const auto model = m.with_outputs({m.node("Cast", "y", {h}, {{"to", int64_t{6}}})});
  return {model,
          {narrow({HUGE_VALF, 3}, {2}, DType::kFloat16)},
          {{"y", Tensor::vector<int32_t>({std::numeric_limits<int32_t>::min(), 21})}}};
}

Result random() {
  TestModel m;
  return {m.with_outputs({m.node("RandomNormalLike", "y", {m.input("x", {8})})}),
          {random_floats({8}, 1)},
          {{"y", random_floats({8}, 3)}}};
}

Result specials() {  // the largest number beside NaN
  TestModel m;
  const auto model = m.with_outputs(
      {m.node("ReduceMax", "y", {m.input("x", {1, 3}), m.constant("axes", Tensor::vector<int64_t>({1}))})});
  return {model, {Tensor::from<float>({1, 3}, {1, kNaN, 2})}, {{"y", Tensor::from<float>({1, 1}, {2})}}};
}

Result half_step() {
  TestModel m;
  Value* y = m.node("QuantizeLinear", "y",
                    {m.input("x", {1}), m.constant("scale", Tensor::scalar(0.04F)),
                     m.constant("zero", Tensor::scalar<uint8_t>(120))});
  return {m.with_outputs({y}),
          {Tensor::vector<float>({7.50002F * 0.04F})},
          {{"y", Tensor::vector<uint8_t>({127})}}};
}

Result own_scale() {  // which is off by a thousandth
  TestModel m;
  Value *y = m.graph.add_value("y"), *s = m.graph.add_value("s"), *z = m.graph.add_value("z");
  m.graph.add_node("DynamicQuantizeLinear", {m.input("x", {100})}, {y, s, z}, {}, "y");
  const auto model = m.with_outputs({s, z, y});
  const Tensor x = random_floats({100}, 3, 0, 2.55F);
  const StoredTensorList right = results_of(*model, {x});
  const float scale = right[1].tensor.load().data<float>()[0] * 1.001F;
  std::vector<uint8_t> values;
  for (const float v : x.span<float>()) values.push_back(static_cast<uint8_t>(std::nearbyint(v / scale)));
  return {model, {x}, {{"s", Tensor::scalar(scale)}, right[2], {"y", Tensor::vector<uint8_t>(values)}}};
}

Result zero_range() {
  TestModel m;
  Value *y = m.graph.add_value("y"), *s = m.graph.add_value("s"), *z = m.graph.add_value("z");
  m.graph.add_node("DynamicQuantizeLinear", {m.input("x", {4})}, {y, s, z}, {}, "y");
  return {m.with_outputs({y, s, z}), {Tensor::vector<float>({0, 0, 0, 0})}, {{"s", Tensor::scalar(0.25F)}}};
}

Result cast_beyond() {
  TestModel m;
  return {m.with_outputs({m.node("Cast", "y", {m.input("x", {2})}, {{"to", int64_t{6}}})}),
          {Tensor::vector<float>({1e20F, 3})},
          {{"y", Tensor::vector<int32_t>({7, 3})}}};
}

Result interpolated_integer() {  // 1.25 and 3.75 between 0 and 5
  TestModel m;
  Value* scales = m.constant("scales", Tensor::vector<float>({1, 1, 1, 2}));
  const auto model =
      m.with_outputs({m.node("Resize", "y", {m.input("x", {1, 1, 1, 2}, DType::kInt32), nullptr, scales},
                             {{"mode", std::string("linear")}})});
  const std::vector<Tensor> feed{Tensor::from<int32_t>({1, 1, 1, 2}, {0, 5})};
  const Tensor right = results_of(*model, feed)[0].tensor.load();
  return {model, feed, {{"y", with(right, 2, 7 - right.data<int32_t>()[2])}}};
}

Result integer_overflow() {  // which saturates
  TestModel m;
  Value* x = m.input("x", {2}, DType::kInt32);
  return {m.with_outputs({m.node("Add", "y", {x, x})}),
          {Tensor::vector<int32_t>({2'000'000'000, 4})},
          {{"y", Tensor::vector<int32_t>({std::numeric_limits<int32_t>::max(), 8})}}};
}

Result unsorted() {
  TestModel m;
  Value *values = m.graph.add_value("values"), *places = m.graph.add_value("places");
  m.graph.add_node("TopK", {m.input("x", {4}), m.constant("k", Tensor::vector<int64_t>({2}))},
                   {values, places}, {{"sorted", int64_t{0}}}, "top");
  const auto model = m.with_outputs({values, places});
  const std::vector<Tensor> feed{Tensor::vector<float>({1, 4, 2, 3})};
  const Tensor right = results_of(*model, feed)[0].tensor.load();
  const float* r = right.data<float>();
  return {model, feed, {{"values", Tensor::vector<float>({r[1], r[0]})}}};
}

Result quantised_in_parts() {
  TestModel m;
  m.model->opsets = {{"", 21}, {"com.microsoft", 1}};
  Value* y = m.graph.add_value("y");
  const auto bytes = [&](const char* name, Shape shape, int8_t step) {
    Tensor t = Tensor::zeros(DType::kInt8, shape);
    int8_t v = -50;
    for (int8_t& b : t.mutable_span<int8_t>()) b = v = static_cast<int8_t>(v + step);
    return m.constant(name, t);
  };
  const auto one = [&](const char* name, float v) { return m.constant(name, Tensor::vector<float>({v})); };
  const auto zero = [&](const char* name) { return m.constant(name, Tensor::vector<int8_t>({0})); };
  m.graph.add_node(
      "DynamicQuantizeLSTM",
      {m.input("x", {3, 1, 2}), bytes("w", {1, 2, 8}, 7), bytes("r", {1, 2, 8}, 5), nullptr, nullptr, nullptr,
       nullptr, nullptr, one("ws", 0.01F), zero("wz"), one("rs", 0.01F), zero("rz")},
      {y}, {{"hidden_size", int64_t{2}}}, "y", "com.microsoft");
  const auto model = m.with_outputs({y});
  const std::vector<Tensor> feed{random_floats({3, 1, 2}, 1)};
  const Tensor right = results_of(*model, feed)[0].tensor.load();
  return {model, feed, {{"y", with(right, 1, right.data<float>()[1] + 2e-3)}}};
}

/// Also a jump.
Result unrounded_inputs() {  // 20 was a little less before it was rounded
  TestModel m;
  Value* h =
      m.node("Mul", "h",
             {m.input("x", {64}, DType::kFloat16), m.constant("k", narrow({1 / 3.0F}, {}, DType::kFloat16))});
  const auto model = m.with_outputs({h, m.node("Floor", "y", {h})});
  const std::vector<Tensor> feed{narrow(std::vector<float>(64, 1.25F), {64}, DType::kFloat16)};
  for (int64_t at = 0; at < 64; ++at) {  // of few elements no lane shows that; more evaluations do
    StoredTensorList given = results_of(*model, feed);
    given[0].tensor = with(given[0].tensor.load(), at, 20);
    given[1].tensor = with(given[1].tensor.load(), at, 19);
    if (judge_without({}, model, feed, given).outputs.back().excuses ==
        std::vector<std::string>{"unrounded-inputs"})
      return {model, feed, given};
  }
  return {};
}

Result flushed_inputs() {
  TestModel m;
  const auto model =
      m.with_outputs({m.node("Mul", "y", {m.input("x", {2}), m.constant("k", Tensor::scalar(1e10F))})});
  return {model, {Tensor::vector<float>({1e-39F, 2})}, {{"y", Tensor::vector<float>({0, 2e10F})}}};
}

Result sums() {
  TestModel m;
  const auto model = m.with_outputs({m.node("GlobalAveragePool", "y", {m.input("x", {1, 1, 200, 200})})});
  float sum = 0;
  for (int i = 0; i < 40000; ++i) sum += 0.1F;
  return {model,
          {Tensor::from<float>({1, 1, 200, 200}, std::vector<float>(40000, 0.1F))},
          {{"y", Tensor::from<float>({1, 1, 1, 1}, {sum / 40000})}}};
}

Result winograd() {  // beside a large number that the window does not hold
  TestModel m;
  const auto model = m.with_outputs(
      {m.node("Conv", "y", {m.input("x", {1, 64, 8, 8}), m.constant("w", random_floats({2, 64, 3, 3}, 1))})});
  const Tensor x = with(random_floats({1, 64, 8, 8}, 2, -1e-3F, 1e-3F), 3, 100);
  const Tensor exact = to_float64(observe(model, {x})[0].second[0]);
  return {model, {x}, {{"y", with(convert(exact, DType::kFloat32), 4, exact.data<double>()[4] + 1e-5)}}};
}

Result reciprocal() {
  TestModel m;
  const auto model = m.with_outputs(
      {m.node("Div", "y", {m.input("x", {500}), m.constant("c", Tensor::scalar(2.8284271F))})});
  const Tensor x = random_floats({500}, 3);
  std::vector<float> y;
  for (const float v : x.span<float>()) y.push_back(v * (1 / 2.8284271F));
  return {model, {x}, {{"y", Tensor::vector<float>(y)}}};
}

Result scale_afterwards() {  // far from the zero point
  constexpr int64_t kTerms = 64, kColumns = 16;
  constexpr float kScale = 0.013F, kZero = 200;
  TestModel m;
  Value* h = m.node("DequantizeLinear", "h",
                    {m.input("q", {1, kTerms}, DType::kUInt8), m.constant("s", Tensor::scalar(kScale)),
                     m.constant("z", Tensor::scalar<uint8_t>(200))});
  const Tensor w = random_floats({kTerms, kColumns}, 2, 0, 1);
  const auto model = m.with_outputs({h, m.node("MatMul", "y", {h, m.constant("w", w)})});
  std::vector<uint8_t> q;
  for (int64_t i = 0; i < kTerms; ++i) q.push_back(static_cast<uint8_t>(199 + i % 3));
  std::vector<float> y;
  for (int64_t c = 0; c < kColumns; ++c) {
    double values = 0, zeros = 0;
    for (int64_t i = 0; i < kTerms; ++i) {
      values += q[static_cast<size_t>(i)] * double{w.data<float>()[i * kColumns + c]};
      zeros += double{kZero} * w.data<float>()[i * kColumns + c];
    }
    y.push_back(kScale * static_cast<float>(values) - kScale * static_cast<float>(zeros));
  }
  const std::vector<Tensor> feed{Tensor::from<uint8_t>({1, kTerms}, q)};
  return {model, feed, {results_of(*model, feed)[0], {"y", Tensor::from<float>({1, kColumns}, y)}}};
}

Result unrounded_softmax() {  // of equal numbers that may have been 32 less or more: one was the largest
  constexpr int64_t kCount = 2000;
  TestModel m;
  Value* h = m.node(
      "Add", "h",
      {m.input("x", {1, kCount}, DType::kBFloat16), m.constant("k", narrow({8192}, {}, DType::kBFloat16))});
  const auto model = m.with_outputs({h, m.node("Softmax", "y", {h}, {{"axis", int64_t{-1}}})});
  const std::vector<Tensor> feed{Tensor::zeros(DType::kBFloat16, {1, kCount})};
  return {model,
          feed,
          {results_of(*model, feed)[0], {"y", with(Tensor::zeros(DType::kBFloat16, {1, kCount}), 3, 1)}}};
}

Result overflown_inputs() {
  TestModel m;
  Value* x = m.node("Cast", "h", {m.input("x", {1, 32, 2})}, {{"to", int64_t{10}}});
  Value* y = m.graph.add_value("y");
  const auto half = [](const std::vector<float>& v, Shape shape) {
    return narrow(v, shape, DType::kFloat16);
  };
  m.graph.add_node("RNN",
                   {x, m.constant("w", half({1, 2}, {1, 1, 2})), m.constant("r", half({0}, {1, 1, 1}))}, {y},
                   {{"hidden_size", int64_t{1}}}, "y");
  const auto model = m.with_outputs({x, y});
  std::vector<float> numbers(64, 0.25F);
  numbers[0] = -100000, numbers[1] = 60000;
  const std::vector<Tensor> feed{Tensor::from<float>({1, 32, 2}, numbers)};
  StoredTensorList given = results_of(*model, feed);
  given[1].tensor = with(given[1].tensor.load(), 0, 1);
  return {model, feed, given};
}

Result computed_at_once() {  // x - mean over its root mean square; the mean was a unit off
  TestModel m;
  Value *x = m.input("x", {3, 50}), *rows = m.constant("rows", Tensor::vector<int64_t>({1}));
  Value* d = m.node("Sub", "d", {x, m.node("ReduceMean", "m", {x, rows})});
  Value* v = m.node("ReduceMean", "v", {m.node("Mul", "s", {d, d}), rows});
  Value* r = m.node("Sqrt", "r", {m.node("Add", "e", {v, m.constant("c", Tensor::scalar(1e-6F))})});
  const auto model = m.with_outputs({m.node("Div", "y", {d, r})});
  std::vector<float> data;
  for (int i = 0; i < 150; ++i) data.push_back(0.3F + 1e-5F * static_cast<float>(i % 7));
  const std::vector<Tensor> feed{Tensor::from<float>({3, 50}, data)};
  StoredTensorList given = results_of(*model, feed);
  given.back().tensor = convert(
      map_elements<double>(to_float64(given.back().tensor.load()), [](double y) { return y + 2.98e-5; }),
      DType::kFloat32);
  return {model, feed, given};
}

Result choices() {  // of neighbours in bfloat16 that have become equal numbers
  TestModel m;
  Value* h = m.node(
      "Mul", "h", {m.input("x", {2}, DType::kBFloat16), m.constant("k", narrow({1}, {}, DType::kBFloat16))});
  const auto model = m.with_outputs({h, m.node("ArgMax", "y", {h}, {{"axis", int64_t{0}}})});
  const Tensor x = narrow({1, 1 + 0x1p-7F}, {2}, DType::kBFloat16);
  return {model, {x}, {{"h", x}, {"y", Tensor::vector<int64_t>({0})}}};
}

Result quantised_steps() {
  TestModel m;
  Value *scale = m.constant("scale", Tensor::scalar(0.01F)),
        *zero = m.constant("zero", Tensor::scalar<uint8_t>(128));
  Value* a = m.node("DequantizeLinear", "b",
                    {m.node("QuantizeLinear", "a", {m.input("x", {200}), scale, zero}), scale, zero});
  Value* q = m.node("QuantizeLinear", "q", {m.node("Sigmoid", "h", {a}), scale, zero});
  const auto model = m.with_outputs({m.node("DequantizeLinear", "y", {q, scale, zero})});
  const std::vector<Tensor> feed{random_floats({200}, 3)};
  Tensor y = results_of(*model, feed).back().tensor.load();
  for (int64_t i = 0; i < 20; ++i) y = with(y, 7 * i, y.data<float>()[7 * i] + 0.01);
  return {model, feed, {{"y", y}}};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"decided-shape", decided_shape},
      {"random-before", random_before},
      {"nan-of-model", nan_of_model},
      {"unknown-cast", unknown_cast},
      {"random", random},
      {"specials", specials},
      {"half-step", half_step},
      {"own-scale", own_scale},
      {"zero-range", zero_range},
      {"cast-beyond", cast_beyond},
      {"interpolated-integer", interpolated_integer},
      {"integer-overflow", integer_overflow},
      {"unsorted", unsorted},
      {"quantised-in-parts", quantised_in_parts},
      {"unrounded-inputs", unrounded_inputs, {"jumps"}},
      {"flushed-inputs", flushed_inputs},
      {"sums", sums},
      {"winograd", winograd},
      {"reciprocal", reciprocal},
      {"unrounded-softmax", unrounded_softmax, {"unrounded-inputs"}},
      {"overflown-inputs", overflown_inputs},
      {"computed-at-once", computed_at_once},
      {"choices", choices},
      {"jumps", unrounded_inputs, {"unrounded-inputs"}},
      {"quantised-steps", quantised_steps},
  };
  return list;
}

bool is_accepted(const ArbiterVerdict& v) {
  return v.verdict != Verdict::kWrong && v.verdict != Verdict::kUnclear;
}

ArbiterVerdict verdict_without(const std::vector<std::string>& excuses, const Result& r) {
  const Arbitration a = judge_without(excuses, r.model, r.feed, r.given);
  for (const ArbiterVerdict& v : a.outputs)
    if (v.output == r.given.back().name) return v;
  ADD_FAILURE() << r.given.back().name << " is not judged";
  return {};
}

TEST(ExcuseList, EachIsNeeded) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Result r = c.make();
    ASSERT_NE(r.model, nullptr) << c.name;
    std::vector<std::string> off = c.beside;
    const ArbiterVerdict with = verdict_without(off, r);
    EXPECT_TRUE(is_accepted(with)) << c.name << ": " << verdict_name(with.verdict) << " " << with.worst_ratio;
    EXPECT_TRUE(std::ranges::find(with.excuses, c.name) != with.excuses.end())
        << c.name << ": " << verdict_name(with.verdict) << " "
        << (with.excuses.empty() ? "without excuses" : with.excuses[0]);
    off.emplace_back(c.name);
    const ArbiterVerdict without = verdict_without(off, r);
    EXPECT_FALSE(is_accepted(without)) << c.name << ": " << verdict_name(without.verdict) << " "
                                       << (without.excuses.empty() ? "" : without.excuses[0]);
    EXPECT_TRUE(without.excuses.empty()) << c.name;
  }
}

/// Sums of numbers with their zero points still in them are one more order.
TEST(ExcuseList, AScaleThatIsAppliedAfterwardsIsAnOrderOfASum) {
  const Result r = scale_afterwards();
  EXPECT_EQ(verdict_without({}, r).excuses, std::vector<std::string>{"sums"});
  EXPECT_FALSE(is_accepted(verdict_without({"sums"}, r)));
}

/// The sum or difference of two dequantised tensors, whose scale was applied after it or which is off by
/// `error`. The numbers before it are a step away from the exact network's, whose sums would be right, too.
Result sum_of_quantised(const char* op, double error) {
  constexpr float kScale = 0.02F;
  constexpr int64_t kCount = 256;
  TestModel m;
  Value* scale = m.constant("s", Tensor::scalar(kScale));
  Value* zero = m.constant("z", Tensor::scalar<uint8_t>(128));
  const auto quantised = [&](const char* name, const char* from) {
    return m.node("QuantizeLinear", name, {m.input(from, {kCount}), scale, zero});
  };
  Value *p = quantised("p", "f"), *q = quantised("q", "g");
  Value *a = m.node("DequantizeLinear", "a", {p, scale, zero}),
        *b = m.node("DequantizeLinear", "b", {q, scale, zero});
  const auto model = m.with_outputs({p, q, a, b, m.node(op, "y", {a, b})});
  std::vector<float> f, g, of_a, of_b, y;
  std::vector<uint8_t> of_p, of_q;
  for (int i = 0; i < kCount; ++i) {
    const int left = i * 7 % 255 - 127, right = i * 13 % 255 - 127;
    f.push_back(kScale * static_cast<float>(left - 1)), g.push_back(kScale * static_cast<float>(right));
    of_p.push_back(static_cast<uint8_t>(left + 128)), of_q.push_back(static_cast<uint8_t>(right + 128));
    of_a.push_back(kScale * static_cast<float>(left)), of_b.push_back(kScale * static_cast<float>(right));
    const int steps = std::string_view(op) == "Add" ? left + right : left - right;
    y.push_back(static_cast<float>(double{kScale} * steps + error));
  }
  return {model,
          {Tensor::vector<float>(f), Tensor::vector<float>(g)},
          {{"p", Tensor::vector<uint8_t>(of_p)},
           {"q", Tensor::vector<uint8_t>(of_q)},
           {"a", Tensor::vector<float>(of_a)},
           {"b", Tensor::vector<float>(of_b)},
           {"y", Tensor::vector<float>(y)}}};
}

/// Where the sum of the rounded numbers is a number of the type, nothing else would allow for it.
TEST(ExcuseList, AScaleThatIsAppliedAfterASumOfTwoNumbersRoundsOnce) {
  for (const char* op : {"Add", "Sub"}) {
    const Result r = sum_of_quantised(op, 0);
    EXPECT_EQ(verdict_without({}, r).excuses, std::vector<std::string>{"computed-at-once"}) << op;
    EXPECT_FALSE(is_accepted(verdict_without({"computed-at-once"}, r))) << op;
    EXPECT_FALSE(is_accepted(verdict_without({}, sum_of_quantised(op, 1e-6)))) << op;
  }
}

/// A mean of quantised numbers far from their zero point, added up as integers or off by `error`.
Result mean_of_quantised(double error) {
  constexpr int64_t kCount = 100;
  constexpr float kScale = 0.05F;
  constexpr int kZero = -128;
  TestModel m;
  Value* h = m.node("DequantizeLinear", "h",
                    {m.input("q", {1, 1, kCount, 1}, DType::kInt8), m.constant("s", Tensor::scalar(kScale)),
                     m.constant("z", Tensor::scalar<int8_t>(kZero))});
  const auto model = m.with_outputs({h, m.node("GlobalAveragePool", "y", {h})});
  std::vector<int8_t> q;
  int sum = 0;
  for (int64_t i = 0; i < kCount; ++i) sum += q.emplace_back(static_cast<int8_t>(kZero + i % 8));
  const float with_zero = kScale * static_cast<float>(sum),
              zeros = kScale * static_cast<float>(kZero * kCount);
  const auto y = static_cast<float>(static_cast<double>((with_zero - zeros) / kCount) + error);
  const std::vector<Tensor> feed{Tensor::from<int8_t>({1, 1, kCount, 1}, q)};
  return {model, feed, {results_of(*model, feed)[0], {"y", Tensor::from<float>({1, 1, 1, 1}, {y})}}};
}

/// Where all factors are quantised, backends add up integers, whose sums do not walk.
TEST(ExcuseList, SumsOfQuantisedNumbersAreExactUntilTheyAreScaled) {
  EXPECT_TRUE(is_accepted(verdict_without({}, mean_of_quantised(0))));
  EXPECT_TRUE(is_accepted(verdict_without({}, mean_of_quantised(3e-7))));
  EXPECT_FALSE(is_accepted(verdict_without({}, mean_of_quantised(1e-5))));
}

TEST(ExcuseList, TheCasesAreTheListInItsOrder) {
  const std::span<const ExcuseRule> rules = excuse_rules();
  ASSERT_EQ(cases().size(), rules.size());
  for (size_t i = 0; i < rules.size(); ++i) EXPECT_EQ(cases()[i].name, rules[i].name);
}

TEST(ExcuseList, AnUnknownNameIsRefusedWithTheNames) {
  const Result r = reciprocal();
  try {
    judge_without({"sums", "luck"}, r.model, r.feed, r.given);
    FAIL() << "no excuse is named 'luck'";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    for (const char* part : {"'luck'", "decided-shape, random-before", "quantised-steps"})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace assay::excuse_list_test
