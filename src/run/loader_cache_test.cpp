#include "run/loader_cache.h"

#include "run/run_test_util.h"

namespace assay::loader_cache_test {
namespace {

TensorInfo info(const char* name, DType type, Dims dims) {
  return {name, Type::tensor(type, std::move(dims))};
}

Tensor floats(std::vector<float> values) { return Tensor::vector(values); }

InputData one_iteration(std::vector<std::pair<std::string, Tensor>> tensors) {
  StoredTensorList list;
  for (auto& [name, tensor] : tensors) list.push_back({name, tensor});
  return {list};
}

/// Feeds data named a, b to the inputs given.
struct Fed {
  std::vector<Tensor> tensors;
  std::string log, error;
};
Fed feed(InputData data, std::vector<TensorInfo> inputs) {
  log::Capture capture;
  Fed result;
  LoaderCache cache(std::move(data));
  try {
    cache.set_inputs(std::move(inputs));
    result.tensors = cache.feed(0);
  } catch (const Error& e) {
    result.error = e.what();
  }
  result.log = capture.out() + capture.err();
  return result;
}

TEST(LoaderCache, ExactNamesInAnyOrder) {
  const Fed fed = feed(one_iteration({{"b", floats({2})}, {"a", floats({1})}, {"unused", floats({3})}}),
                       {info("a", DType::kFloat32, {1}), info("b", DType::kFloat32, {1})});
  EXPECT_EQ(fed.tensors[0].item<float>(), 1);
  EXPECT_EQ(fed.tensors[1].item<float>(), 2);
  EXPECT_EQ(fed.log, "");
}

TEST(LoaderCache, SimilarNamesThenPositions) {
  const Fed fed = feed(one_iteration({{"Image:0", floats({1})}, {"other", floats({2})}}),
                       {info("image", DType::kFloat32, {1}), info("mask", DType::kFloat32, {1})});
  EXPECT_EQ(fed.tensors[0].item<float>(), 1);
  EXPECT_EQ(fed.tensors[1].item<float>(), 2);
  EXPECT_EQ(fed.log,
            "[W] Input tensor: image | Buffer name (Image:0) does not match expected input name (image).\n"
            "[W] Input tensor: mask | Buffer name (other) does not match expected input name (mask).\n");
}

TEST(LoaderCache, CastsWithAWarningAndTellsWhatIsOutOfRange) {
  const Fed fed = feed(one_iteration({{"a", floats({1.5F, 300})}}), {info("a", DType::kUInt8, {2})});
  EXPECT_EQ(fed.tensors[0].dtype(), DType::kUInt8);
  EXPECT_EQ(fed.tensors[0].to_int64()[0], 1);
  EXPECT_EQ(
      fed.log,
      "[W] Input tensor: a | Buffer dtype (float32) does not match expected input dtype (uint8), attempting "
      "to "
      "cast. \n[W] Some values in this input are out of range of uint8. Unexpected behavior may ensue!\n");
}

TEST(LoaderCache, TransposesAndReshapes) {
  const Tensor t = Tensor::from<float>({1, 3}, std::vector<float>{1, 2, 3});
  const Fed fed = feed(one_iteration({{"a", t}}), {info("a", DType::kFloat32, {3, 1})});
  EXPECT_EQ(fed.tensors[0].shape(), (Shape{3, 1}));
  EXPECT_NE(fed.log.find("[W] Input tensor: a | Buffer shape ((1, 3)) does not match expected input shape "
                         "(BoundedShape([3, 1], min=None, max=None)). Attempting to transpose/reshape.\n"),
            std::string::npos)
      << fed.log;
}

TEST(LoaderCache, OpenExtentsTakeWhatComes) {
  const Fed fed =
      feed(one_iteration({{"a", floats({1, 2, 3})}}), {info("a", DType::kFloat32, {Dim::symbol("n")})});
  EXPECT_EQ(fed.tensors[0].shape(), (Shape{3}));
  EXPECT_EQ(fed.log, "");
}

TEST(LoaderCache, LoadedDataThatDoNotFitAreAnError) {
  const Fed missing = feed(one_iteration({}), {info("a", DType::kFloat32, {1})});
  EXPECT_NE(missing.log.find("[!] Input tensor: a | Does not exist in the provided input data.\n"),
            std::string::npos);
  EXPECT_NE(missing.error.find("Could not reload inputs from data loader."), std::string::npos);
  const Fed wrong = feed(one_iteration({{"b", floats({1, 2, 3})}}), {info("a", DType::kFloat32, {2, 2})});
  EXPECT_NE(wrong.log.find("Cannot reuse input data due to mismatch in shape or data type."),
            std::string::npos);
  EXPECT_NE(wrong.error, "");
}

TEST(LoaderCache, RandomDataAreDrawnAnewForAModelThatDiffers) {
  log::Capture capture;
  LoaderCache cache(DataLoader({}));
  cache.set_inputs({info("x", DType::kFloat32, {3})});
  const Tensor first = cache.feed(0)[0];
  cache.set_inputs({info("x", DType::kFloat32, {2, 2})});
  const Tensor second = cache.feed(0)[0];
  EXPECT_EQ(second.shape(), (Shape{2, 2}));
  EXPECT_NE(capture.out().find(
                "[W] Could not use buffer previously cached from data loader for input: x. Attempting to "
                "reload inputs from the data loader.\n"),
            std::string::npos);
  cache.set_inputs({info("x", DType::kFloat32, {3})});
  EXPECT_TRUE(cache.feed(0)[0].identical(first));
}

TEST(LoaderCache, EveryRunnerGetsTheSameIterations) {
  LoaderCache cache(DataLoader({.iterations = 3}));
  cache.set_inputs({info("x", DType::kFloat32, {4})});
  std::vector<Tensor> first;
  for (int64_t i = 0; i < cache.size(); ++i) first.push_back(cache.feed(i)[0]);
  cache.set_inputs({info("x", DType::kFloat32, {Dim()})});
  for (int64_t i = 0; i < cache.size(); ++i)
    EXPECT_TRUE(cache.feed(i)[0].identical(first[static_cast<size_t>(i)]));
  EXPECT_FALSE(first[0].identical(first[1]));
}

TEST(LoaderCache, NoDataIsAWarning) {
  log::Capture capture;
  LoaderCache cache(InputData{});
  cache.set_inputs({info("x", DType::kFloat32, {2})});
  EXPECT_EQ(cache.size(), 0);
  EXPECT_EQ(capture.out(), "[W] Data loader did not yield any input data.\n");
  EXPECT_EQ(LoaderCache(DataLoader({.iterations = -5})).size(), 0);
}

TEST(LoaderCache, OnlyTensorsCanBeFed) {
  LoaderCache cache(InputData{});
  Type sequence;
  sequence.kind = Type::Kind::kSequence;
  EXPECT_NE(error_of([&] {
              cache.set_inputs({{"s", sequence}});
            }).find("only tensors can be fed"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::loader_cache_test
