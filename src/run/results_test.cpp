#include "run/results.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "assay/error.h"
#include "base/base64.h"
#include "tensor/convert.h"
#include "tensor/npy.h"
#include "tensor/npz.h"

namespace assay::results_test {
namespace {

/// float32 [1, 2], as in the description of the format.
constexpr std::string_view kOneTwo =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA/AAAAQA==";

class Results : public testing::Test {
 protected:
  Results()
      : path_((std::filesystem::temp_directory_path() /
               ("results_test." + std::to_string(::getpid()) + ".json"))
                  .string()) {}
  ~Results() override { std::filesystem::remove(path_); }

  void write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string read() const {
    std::stringstream s;
    s << std::ifstream(path_, std::ios::binary).rdbuf();
    return s.str();
  }
  RunResults results_of(std::string_view text) const {
    write(text);
    return load_run_results(path_);
  }
  /// The only tensor of an inputs file whose value is `value`.
  Tensor input_of(std::string_view value) const {
    write(fmt::format(R"([{{"x": {}}}])", value));
    return load_inputs(path_).at(0).at(0).tensor.load();
  }
  /// The message, with the path of the file replaced by FILE.
  template <typename Body>
  std::string error_of(Body body) const {
    try {
      body();
    } catch (const Error& e) {
      std::string text = e.what();
      for (size_t at; (at = text.find(path_)) != text.npos;) text.replace(at, path_.size(), "FILE");
      return text;
    }
    return "";
  }
  std::string load_error(std::string_view text) const {
    return error_of([&] { results_of(text); });
  }

  std::string path_;
};

std::string ndarray(std::string_view base64) {
  return fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", base64);
}

std::string npy(const Tensor& t) {
  std::string out;
  write_npy(t, [&](const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); });
  return out;
}

TEST_F(Results, AreWrittenToTheByteAsUpstreamDoes) {
  const Tensor t = Tensor::vector<float>({1, 2});
  RunResults r;
  r.runners.push_back({"onnxrt-runner-N0", {{{{"y", t}, {"é", t}}, 0.00013, "onnxrt-runner-N0"}}});
  r.runners.push_back({"other", {}});
  r.runners.push_back({"third", {{{}, std::nullopt, "third"}}});
  save_run_results(r, path_);
  const std::string array = fmt::format(R"("values": {{
                                "array": "{}",
                                "polygraphy_class": "ndarray"
                            }},
                            "polygraphy_class": "LazyArray"
                        }})",
                                        kOneTwo);
  EXPECT_EQ(read(), R"({
    "lst": [
        [
            "onnxrt-runner-N0",
            [
                {
                    "outputs": {
                        "y": {
                            )" +
                        array + R"(,
                        "\u00e9": {
                            )" +
                        array + R"(
                    },
                    "runtime": 0.00013,
                    "runner_name": "onnxrt-runner-N0",
                    "polygraphy_class": "IterationResult"
                }
            ]
        ],
        [
            "other",
            []
        ],
        [
            "third",
            [
                {
                    "outputs": {},
                    "runtime": null,
                    "runner_name": "third",
                    "polygraphy_class": "IterationResult"
                }
            ]
        ]
    ],
    "polygraphy_class": "RunResults"
})");
}

TEST_F(Results, RoundTrip) {
  RunResults r;
  const Tensor t = convert(Tensor::from<double>({2, 2}, std::vector<double>{1, 2, 3, 4}), DType::kFloat16);
  r.runners.push_back({"a", {{{{"y", t}}, 1.5, "a"}, {{{"y", Tensor::scalar(true)}}, 2.5, "a"}}});
  r.runners.push_back({"a", {}});
  save_run_results(r, path_);
  const RunResults back = load_run_results(path_);
  ASSERT_EQ(back.runners.size(), 2U);
  EXPECT_EQ(back.find("a"), &back.runners[0].second);
  EXPECT_EQ(back.find("b"), nullptr);
  const std::vector<IterationResult>& iterations = back.runners[0].second;
  ASSERT_EQ(iterations.size(), 2U);
  EXPECT_EQ(iterations[0].runtime, 1.5);
  EXPECT_EQ(iterations[0].runner_name, "a");
  EXPECT_EQ(iterations[0].outputs[0].tensor.shape(), (Shape{2, 2}));
  EXPECT_TRUE(iterations[0].outputs[0].tensor.load().identical(t));
  EXPECT_TRUE(find(iterations[1].outputs, "y")->load().identical(Tensor::scalar(true)));
}

TEST_F(Results, InputsAreABareList) {
  const std::vector<TensorList> inputs = {{{"x", Tensor::vector<float>({1, 2})}}, {}};
  save_inputs(inputs, path_);
  EXPECT_EQ(read(), fmt::format(R"([
    {{
        "x": {{
            "array": "{}",
            "polygraphy_class": "ndarray"
        }}
    }},
    {{}}
])",
                                kOneTwo));
  const InputData back = load_inputs(path_);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_TRUE(back[0][0].tensor.load().identical(inputs[0][0].tensor));
  save_inputs(back, path_);  // over the file it is read from
  EXPECT_EQ(load_all(load_inputs(path_)[0])[0].name, "x");
}

TEST_F(Results, ASingleFeedDictIsAListOfOne) {
  write(fmt::format(R"({{"b": {}, "a": {}}})", ndarray(kOneTwo), ndarray(kOneTwo)));
  const InputData inputs = load_inputs(path_);
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0][0].name, "b");
  EXPECT_EQ(std::get<InputData>(load_results_or_inputs(path_)).size(), 1U);
  write(R"({"lst": [], "polygraphy_class": "RunResults"})");
  EXPECT_TRUE(std::get<RunResults>(load_results_or_inputs(path_)).runners.empty());
}

TEST_F(Results, OlderFormatsAreRead) {
  const RunResults r = results_of(fmt::format(R"({{
    "__polygraphy_encoded_RunResults": "polygraphy_serialized_json_type",
    "lst": [["r", [{{
        "runner_name": "r", "runtime": null, "polygraphy_class": "IterationResult",
        "outputs": {{
            "lazy": {{"polygraphy_class": "LazyNumpyArray", "values": {0}}},
            "bare": {0},
            "old": {{"array": "{1}", "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"}}
        }}}}]]]}})",
                                              ndarray(kOneTwo), kOneTwo));
  ASSERT_EQ(r.runners[0].second[0].outputs.size(), 3U);
  EXPECT_FALSE(r.runners[0].second[0].runtime.has_value());
  for (const auto& [name, tensor] : r.runners[0].second[0].outputs)
    EXPECT_TRUE(tensor.load().identical(Tensor::vector<float>({1, 2}))) << name;
}

TEST_F(Results, ArraysAsLatin1TextAndAsArchives) {
  const Tensor t = Tensor::vector<uint8_t>({0, 65, 128, 255});
  std::string escaped, utf8;
  for (const char c : npy(t)) {
    const auto byte = static_cast<unsigned char>(c);
    escaped += fmt::format("\\u{:04x}", byte);
    // Printable characters may be unescaped, as long as none above ASCII is escaped.
    if (byte >= 0x20 && byte < 0x7f)
      utf8 += c;
    else if (byte < 0x80)
      utf8 += fmt::format("\\u{:04x}", byte);
    else
      (utf8 += static_cast<char>(0xc0 | byte >> 6)) += static_cast<char>(0x80 | (byte & 0x3f));
  }
  EXPECT_TRUE(input_of(ndarray(escaped)).identical(t));
  EXPECT_TRUE(input_of(ndarray(utf8)).identical(t));

  save_npz({{"first", t}, {"second", Tensor::scalar(1.0)}}, path_);
  EXPECT_TRUE(input_of(ndarray(base64_encode(read()))).identical(t));
  save_npz({}, path_);
  EXPECT_EQ(error_of([&] { input_of(ndarray(base64_encode(read()))); }),
            "Array payload is empty or invalid (NPZ archive contains no arrays). [in input 'x'] [at "
            "iteration 0] [in FILE]");
}

TEST_F(Results, OfANameTwiceTheLastCounts) {
  const std::string other = ndarray(base64_encode(npy(Tensor::scalar<int64_t>(7))));
  write(fmt::format(R"([{{"a": {}, "b": {}, "a": {}}}])", ndarray(kOneTwo), ndarray(kOneTwo), other));
  const StoredTensorList inputs = load_inputs(path_)[0];
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].name, "a");
  EXPECT_EQ(inputs[0].tensor.load().item<int64_t>(), 7);
}

TEST_F(Results, ElementsAreDecodedWhenLoaded) {
  Tensor large = Tensor::zeros(DType::kFloat32, {5 << 20});
  for (int64_t i = 0; float& v : large.mutable_span<float>()) v = static_cast<float>(i++);
  save_inputs(std::vector<TensorList>{{{"x", large}}}, path_);
  const StoredTensor stored = load_inputs(path_)[0][0].tensor;
  EXPECT_FALSE(stored.in_memory());
  EXPECT_TRUE(stored.load().identical(large));
  // Damage after the header shows when the elements are loaded.
  std::string text = read();
  text[text.size() / 2] = '!';
  write(text);
  EXPECT_EQ(error_of([&] { load_inputs(path_)[0][0].tensor.load(); }),
            fmt::format("character {} of base64 text (code 33) is not of its alphabet [in input 'x' of "
                        "iteration 0 of FILE]",
                        text.size() / 2 - text.find("k05V")));
}

TEST_F(Results, OtherJsonIsNamedAsUpstreamNamesIt) {
  const std::string prefix =
      "Provided JSON cannot be decoded into a RunResults.\nNote: JSON was decoded into a <class '";
  EXPECT_EQ(load_error("[]"), prefix + "list'>:\n[] [in FILE]");
  EXPECT_EQ(load_error(" {\"a\": 1} "), prefix + "collections.OrderedDict'>:\n{\"a\": 1} [in FILE]");
  EXPECT_EQ(load_error("3"), prefix + "int'>:\n3 [in FILE]");
  EXPECT_EQ(load_error("-3.5"), prefix + "float'>:\n-3.5 [in FILE]");
  EXPECT_EQ(load_error("null"), prefix + "NoneType'>:\nnull [in FILE]");
  EXPECT_EQ(load_error("true"), prefix + "bool'>:\ntrue [in FILE]");
  EXPECT_EQ(load_error("\"x\""), prefix + "str'>:\nx [in FILE]");
  EXPECT_EQ(load_error(R"({"polygraphy_class": "Foo"})"),
            "Could not decode serialized type: Foo. This could be because a required module is missing.  [in "
            "FILE]");
  EXPECT_NE(load_error("[" + std::string(1000, ' ') + "]").find("..."), std::string::npos);
}

TEST_F(Results, ResultsAreNoInputs) {
  write(R"({"lst": [], "polygraphy_class": "RunResults"})");
  const std::string text = error_of([&] { load_inputs(path_); });
  EXPECT_TRUE(text.starts_with("The data loader returned an object that cannot be recognized as a feed_dict"))
      << text;
  EXPECT_NE(text.find("Convert it to inputs first"), std::string::npos);
  write("3");
  EXPECT_EQ(error_of([&] { load_inputs(path_); }),
            "expected a list of feed dicts, found a Python int: 3 [in FILE]");
  write("[[]]");
  EXPECT_EQ(error_of([&] { load_inputs(path_); }),
            "iteration 0 is a Python list, not a dict of input names and arrays [in FILE]");
  EXPECT_EQ(
      error_of([&] { input_of("[1, 2]"); }),
      "the value is a Python list, not an array [in input 'x'] [at iteration 0] [in FILE]. Write an array as "
      "{\"polygraphy_class\": \"ndarray\", \"array\": \"the .npy file in base64\"}, or save the inputs with "
      "numpy.savez(\"inputs.npz\", name=array).");
}

TEST_F(Results, MalformedFilesSayWhereAndWhy) {
  const auto iteration = [&](std::string_view value) {
    return load_error(
        fmt::format(R"({{"polygraphy_class": "RunResults", "lst": [["r", [{{"outputs": {{"y": {}}},
        "runtime": 1, "runner_name": "r", "polygraphy_class": "IterationResult"}}]]]}})",
                    value));
  };
  const std::string where = " [in output 'y'] [at iteration 0 of runner r] [in FILE]";
  EXPECT_EQ(iteration(ndarray("AAAA")),
            "the data is not an .npy array: it does not begin with NumPy's mark" + where);
  EXPECT_EQ(iteration(ndarray(kOneTwo.substr(0, 180))),
            "the .npy array is cut off: its header promises 8 bytes of shape (2,), 7 follow" + where);
  EXPECT_EQ(iteration(ndarray(kOneTwo.substr(0, 181))),
            "base64 text has 181 characters, which is not a multiple of 4" + where);
  EXPECT_EQ(iteration("{\"polygraphy_class\": \"ndarray\"}"),
            "the object of class ndarray has no text 'array'" + where);
  EXPECT_EQ(iteration("{\"polygraphy_class\": \"LazyArray\"}"),
            "the result file is malformed: a LazyArray has no 'values'" + where);
  EXPECT_EQ(
      iteration(R"({"tensor": "", "polygraphy_class": "Tensor"})"),
      "Could not decode serialized type: torch.Tensor. This could be because a required module is missing. " +
          where + ". Save the data as NumPy arrays.");
  EXPECT_EQ(iteration(R"({"polygraphy_class": "FormattedArray"})"),
            "an object of class FormattedArray stands where an array or a result belongs" + where);
  EXPECT_EQ(load_error(R"({"polygraphy_class": "RunResults"})"),
            "the result file is malformed: RunResults has no list 'lst' [in FILE]");
  EXPECT_EQ(load_error(R"({"lst": [["a"]], "polygraphy_class": "RunResults"})"),
            "the result file is malformed: an entry of 'lst' is not a pair of a runner's name and its "
            "iterations [in FILE]");
  EXPECT_EQ(
      load_error(R"({"lst": [["a", [5]]], "polygraphy_class": "RunResults"})"),
      "the result file is malformed: an iteration is not an IterationResult [at iteration 0 of runner a] "
      "[in FILE]");
  EXPECT_EQ(load_error("{\"lst\": ["), "the JSON document ends too early [in FILE, line 1, column 10]");
  EXPECT_EQ(load_error(""), "the JSON document is empty [in FILE, line 1, column 1]");
  EXPECT_EQ(error_of([] { load_run_results("/nonexistent/x.json"); }).substr(0, 38),
            "cannot open /nonexistent/x.json: No su");
}

TEST_F(Results, LyingHeadersAllocateNothing) {
  const std::string huge =
      npy(Tensor::vector<float>({1, 2}))
          .replace(10, 60, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }")
          .substr(0, 136);
  EXPECT_NE(error_of([&] { input_of(ndarray(base64_encode(huge))); }).find("promises 4000000000000 bytes"),
            std::string::npos);
}

TEST_F(Results, TypesThatNumPyLacksComeBack) {
  for (const DType type : {DType::kBFloat16, DType::kFloat8E4M3FN, DType::kInt4, DType::kFloat4E2M1}) {
    const Tensor t = convert(Tensor::from<float>({3, 1}, {1, 2, -0.5F}), type);
    RunResults r;
    r.runners.push_back({"a", {{{{"y", t}}, 1.5, "a"}}});
    save_run_results(r, path_);
    const RunResults read = load_run_results(path_);
    const StoredTensor& y = read.runners[0].second[0].outputs[0].tensor;
    EXPECT_EQ(y.dtype(), type);
    EXPECT_EQ(y.shape(), t.shape());
    EXPECT_TRUE(y.load().identical(t)) << dtype_name(type);
    save_inputs(std::vector<TensorList>{{{"y", t}}}, path_);
    EXPECT_TRUE(load_inputs(path_)[0][0].tensor.load().identical(t));
  }
}

TEST_F(Results, NarrowArraysThatLieAreRefused) {
  const auto error = [&](const std::string& type, const std::string& shape, const std::string& bytes) {
    return error_of([&] {
      input_of(R"({"type": )" + type + R"(, "shape": )" + shape + R"(, "bytes": )" + bytes +
               R"(, "polygraphy_class": "NarrowArray"})");
    });
  };
  const std::string four = ndarray(base64_encode(npy(Tensor::vector<uint8_t>({1, 2, 3, 4}))));
  EXPECT_EQ(error("\"bfloat16\"", "[2]", four), "");
  EXPECT_NE(error("\"bfloat16\"", "[3]", four).find("has 4 bytes of uint8, not 6"), std::string::npos);
  EXPECT_NE(error("\"float32\"", "[1]", four).find("not one that NumPy lacks"), std::string::npos);
  EXPECT_NE(error("\"nothing\"", "[1]", four).find("not one that NumPy lacks"), std::string::npos);
  EXPECT_NE(error("\"bfloat16\"", "[-2]", four).find("no whole number"), std::string::npos);
  EXPECT_NE(error("\"bfloat16\"", "[4294967296, 4294967296, 4]", four).find("elements"), std::string::npos);
  EXPECT_NE(error("\"bfloat16\"", "2", four).find("no list 'shape'"), std::string::npos);
  EXPECT_NE(error("\"bfloat16\"", "[2]", "5").find("lacks type or bytes"), std::string::npos);
}

TEST_F(Results, AnUnfinishedInputsFileLeavesNothing) {
  { InputsWriter(path_).add(TensorList{}); }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace assay::results_test
