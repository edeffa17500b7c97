// Products in 8-bit integers: an engine that calibrates on data, and a second one that has its scales from
// the calibration cache. Both are built with one timing cache: what was measured once is chosen again, so
// that the two engines are the same.
#include <assay/calibrator.h>
#include <assay/loaders.h>
#include <assay/runners.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  const char* const cache = "scales.cache";
  const char* const timings = "timings.cache";
  std::filesystem::remove(cache);
  std::filesystem::remove(timings);
  const Profile profile = Profile().add("x", Shape{1, 4}, Shape{8, 4}, Shape{32, 4});

  // Five sets of numbers between -2 and 2. Real data come from a file, data_source("images.json"), or from a
  // function.
  const DataSource data =
      data_source(DataLoader({.iterations = 5, .shapes = {{"x", Shape{8, 4}}}, .ranges = {{"x", {-2, 2}}}}));
  const auto calibrator = std::make_shared<Calibrator>(
      data, Calibrator::Options{.cache = cache, .algorithm = CalibrationAlgorithm::kMinMax});
  const NetworkFromOnnxPath network(dynamic_model());
  const CreateConfig exact = {.profiles = {profile}};
  const CreateConfig narrow = {
      .profiles = {profile}, .int8 = true, .calibrator = calibrator, .save_timing_cache = timings};

  // After one calibration no more data is needed.
  const auto without_data = std::make_shared<Calibrator>(
      DataSource([](const auto&) { return std::optional<FeedDict>(); }),
      Calibrator::Options{.cache = cache, .algorithm = CalibrationAlgorithm::kMinMax});

  const FeedDict feed = {
      {"x", Tensor::from<float>(Shape{2, 4}, std::vector<float>{1, -0.5F, 0.25F, 1.5F, -2, 0.1F, 0, 1})}};
  const auto run = [&](const CreateConfig& config) {
    TrtRunner runner{EngineFromNetwork(network, config)};
    const Active active(runner);
    return runner.infer(feed)[0].tensor;
  };
  const Tensor y = run(exact), first = run(narrow);
  if (!std::filesystem::exists(cache)) return 1;
  CreateConfig again = narrow;
  again.calibrator = without_data;
  again.load_timing_cache = timings;
  again.error_on_timing_cache_miss = true;
  if (!run(again).identical(first)) return 1;

  float most = 0;
  for (int64_t i = 0; i < y.numel(); ++i)
    most = std::fmax(most, std::fabs(y.data<float>()[i] - first.data<float>()[i]));
  std::printf("8 bits change a probability by up to %.4f\n", most);
  return most > 0 && most < 0.05F ? 0 : 1;
}
