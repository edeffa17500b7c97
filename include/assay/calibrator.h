// Polygraphy's Calibrator: data for 8-bit integers.
//
//   auto calibrator = std::make_shared<Calibrator>(data_source("images.json"), Calibrator::Options{.cache =
//   "scales.txt"}); EngineFromNetwork build{NetworkFromOnnxPath("m.onnx"), CreateConfig{.int8 = true,
//   .calibrator = calibrator}};
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/comparator.h"
#include "assay/int8_calibrator.h"

namespace ASSAY_API assay {
namespace poly {

/// Data are read when an engine is built, unless the cache has the scales. Each build reads from a copy of
/// the source, so that a source with internal state, such as those of data_source(), supplies every build
/// with the same data. The algorithm replaces upstream's BaseClass and algo; batch_size and
/// regression_cutoff have no counterpart.
class Calibrator final : public Int8Calibrator {
 public:
  struct Options {
    std::string cache = {};  ///< file, read if it is there and not empty, else written; empty: none
    CalibrationAlgorithm algorithm = CalibrationAlgorithm::kEntropy2;
    /// Of kLegacy: the part of the magnitudes that is not clipped.
    double quantile = 0.9999;
  };
  explicit Calibrator(DataSource data) : Calibrator(std::move(data), Options()) {}
  Calibrator(DataSource data, Options options);

  CalibrationAlgorithm algorithm() const override { return inner_->algorithm(); }
  double quantile() const override { return inner_->quantile(); }
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    return inner_->next_batch(inputs);
  }
  std::optional<std::string> read_cache() override { return inner_->read_cache(); }
  void write_cache(const std::string& text) override { inner_->write_cache(text); }
  std::string cache_name() const override { return inner_->cache_name(); }

 private:
  std::shared_ptr<Int8Calibrator> inner_;
};

}  // namespace poly
}  // namespace assay
