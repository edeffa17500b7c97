#include "script/postprocess_script.h"

#include "script/script_test_util.h"
#include "tensor/convert.h"

namespace assay::script::postprocess_script_test {
namespace {

class PostprocessScriptTest : public testing::Test {
 protected:
  void SetUp() override { ASSAY_NEEDS_PYTHON(); }

  PostprocessScript open(const std::string& text) {
    return PostprocessScript(scripts_.add("post.py", with_numpy(text), PostprocessScript::kDefaultFunction),
                             test_interpreter());
  }
  TensorList same(const TensorList& outputs) {
    return open("def postprocess_outputs(result):\n    return result\n").process({"runner", 0.5, outputs});
  }

  Scripts scripts_;
};

TEST_F(PostprocessScriptTest, OutputsNamesAndRuntime) {
  PostprocessScript script = open(R"(
calls = 0
def postprocess_outputs(result):
    global calls
    calls += 1
    assert list(result) == ["y", "z"] and result.runner_name == "runner"
    return {"sum": result["y"] + result["z"], "told": np.float64([result.runtime or -1, calls])}
)");
  const TensorList outputs = {{"y", Tensor::vector<float>({1, 2})}, {"z", Tensor::vector<float>({3, 4})}};
  for (const double calls : {1, 2}) {
    const auto runtime = calls == 1 ? std::optional<double>(0.25) : std::nullopt;
    const TensorList out = script.process({"runner", runtime, outputs});
    ASSERT_EQ(out.size(), 2U);
    EXPECT_TRUE(out[0].tensor.identical(Tensor::vector<float>({4, 6})));
    EXPECT_TRUE(out[1].tensor.identical(Tensor::vector<double>({runtime.value_or(-1), calls})));
  }
}

/// A tensor whose bytes count up.
Tensor counting(DType dtype, Shape shape) {
  Tensor t = Tensor::zeros(dtype, std::move(shape));
  auto* bytes = static_cast<uint8_t*>(t.mutable_data());
  const int64_t used = t.numel() * bit_width(dtype) / 8;
  for (int64_t i = 0; i < used; ++i)
    bytes[i] = static_cast<uint8_t>(dtype == DType::kBool ? i & 1 : 37 * i + 11);
  return t;
}

TEST_F(PostprocessScriptTest, EveryTypeThereAndBack) {
  const std::string has =
      "'" + test_interpreter() + "' -c 'import ml_dtypes; ml_dtypes.float6_e2m3fn' 2> /dev/null";
  if (std::system(has.c_str()) != 0) GTEST_SKIP() << "skipped: no Python package ml_dtypes, or an old one";
  TensorList outputs;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kString) continue;
    for (const Shape& shape : {Shape{2, 8}, Shape{0, 3}})
      outputs.push_back({fmt::format("{}{}", dtype_name(dtype), shape.str()), counting(dtype, shape)});
    if (!is_packed(dtype)) outputs.push_back({std::string(dtype_name(dtype)), counting(dtype, {})});
  }
  outputs.push_back(
      {"strings", Tensor::from<std::string>({2, 2}, {"", "Grüße", std::string("a\0b", 3), "\xff\xfe"})});
  outputs.push_back({"no strings", Tensor::allocate(DType::kString, {0})});
  outputs.push_back({"name: \"'\\\n ü", Tensor::scalar<float>(1)});
  const TensorList out = same(outputs);
  ASSERT_EQ(out.size(), outputs.size());
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].name, outputs[i].name);
    EXPECT_EQ(out[i].tensor.dtype(), outputs[i].tensor.dtype()) << out[i].name;
    EXPECT_TRUE(out[i].tensor.identical(outputs[i].tensor)) << out[i].name;
  }
}

TEST_F(PostprocessScriptTest, SequencesOptionalsAndMaps) {
  const Tensor a = Tensor::vector<float>({1, 2}), b = Tensor::vector<float>({3});
  const TensorList outputs = {
      {"sequence", Tensor::sequence({a, b})},
      {"nested", Tensor::sequence({Tensor::sequence({a}), Tensor::sequence({b, a})})},
      {"nothing", Tensor::optional(Tensor())},
      {"integers", Tensor::map(Tensor::vector<int64_t>({5, -1}), Tensor::vector<float>({1, 2}))},
      {"texts", Tensor::map(Tensor::vector<std::string>({"p", "q"}), Tensor::sequence({a, b}))},
  };
  const TensorList out = same(outputs);
  ASSERT_EQ(out.size(), outputs.size());
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_TRUE(out[i].tensor.identical(outputs[i].tensor)) << out[i].name;
  // An optional with a value is, in Python, the value.
  EXPECT_TRUE(same({{"y", Tensor::optional(a)}})[0].tensor.identical(a));
}

TEST_F(PostprocessScriptTest, ArraysThatDoNotLieAsTheyTravel) {
  PostprocessScript script = open(R"(
def postprocess_outputs(result):
    y = result["y"]
    return {"transposed": y.T, "strided": y[:, ::2], "big-endian": y.astype(">f4"), "scalar": y[0, 1], "reversed": y[::-1]}
)");
  const TensorList out =
      script.process({"runner", {}, {{"y", Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6})}}});
  EXPECT_TRUE(out[0].tensor.identical(Tensor::from<float>({3, 2}, {1, 4, 2, 5, 3, 6})));
  EXPECT_TRUE(out[1].tensor.identical(Tensor::from<float>({2, 2}, {1, 3, 4, 6})));
  EXPECT_TRUE(out[2].tensor.identical(Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(out[3].tensor.identical(Tensor::scalar<float>(2)));
  EXPECT_TRUE(out[4].tensor.identical(Tensor::from<float>({2, 3}, {4, 5, 6, 1, 2, 3})));
}

TEST_F(PostprocessScriptTest, FarMoreThanAPipeHoldsInBothDirections) {
  PostprocessScript script = open(
      "def postprocess_outputs(result):\n    return {n + i: y for n, y in result.items() for i in 'ab'}\n");
  const Tensor large = counting(DType::kFloat32, {size_t{6} << 20});
  for (int i = 0; i < 2; ++i) {
    const TensorList out = script.process({"runner", {}, {{"y", large}}});
    ASSERT_EQ(out.size(), 2U);
    for (const NamedTensor& t : out) EXPECT_TRUE(t.tensor.identical(large));
  }
}

TEST_F(PostprocessScriptTest, Errors) {
  const auto failure = [&](const std::string& text) {
    return error_of([&] { open(text).process({"runner", {}, {{"y", Tensor::scalar<float>(1)}}}); });
  };
  expect_contains(failure("def postprocess_outputs(result):\n    pass"),
                  {"postprocess_outputs returned None", "Return the outputs", "at line 2", "post.py"});
  expect_contains(
      failure("def postprocess_outputs(result):\n    return {'y': 'text'}"),
      {"what postprocess_outputs returned['y'] is a str", "at line 2 of function 'postprocess_outputs'"});
  expect_contains(failure("def postprocess_outputs(result):\n    return result['nope']"),
                  {"KeyError: 'nope'", "at line 3"});
  expect_contains(failure("postprocess_outputs = 5"), {"postprocess_outputs is an int, not a function"});
}

TEST_F(PostprocessScriptTest, MissingMlDtypes) {
  std::ofstream(scripts_.path("ml_dtypes.py")) << "raise ImportError('broken')\n";
  PostprocessScript script = open(
      "import sys\nsys.modules['ml_dtypes'] = None\ndef postprocess_outputs(result):\n    return result\n");
  EXPECT_EQ(script.process({"runner", {}, {{"y", Tensor::scalar<float>(1)}}}).size(), 1U);
  const Tensor half = counting(DType::kBFloat16, {64});
  expect_contains(error_of([&] {
                    script.process({"runner", {}, {{"y", half}, {"z", half}}});
                  }),
                  {"bfloat16", "ml_dtypes", "pip install ml_dtypes"});
  EXPECT_EQ(script.process({"runner", {}, {{"y", Tensor::scalar<float>(1)}}}).size(), 1U);
}

}  // namespace
}  // namespace assay::script::postprocess_script_test
