#include "run/calibration.h"

#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "base/mapped_file.h"
#include "base/wording.h"
#include "run/coerce_inputs.h"

namespace assay {
namespace {

/// Nothing when there is no such file.
std::optional<std::string> file_text(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) return std::nullopt;
  return std::string(MappedFile::open(path)->bytes());
}

/// Types with open extents: the shapes are not known in advance.
std::vector<TensorInfo> of_any_shape(std::vector<TensorInfo> inputs) {
  for (TensorInfo& input : inputs)
    if (input.type.is_tensor() && input.type.has_shape())
      for (Dim& d : *input.type.dims) d = Dim();
  return inputs;
}

class DataCalibrator final : public Int8Calibrator {
 public:
  explicit DataCalibrator(CalibrationOptions options) : options_(std::move(options)) {}
  CalibrationAlgorithm algorithm() const override { return options_.algorithm; }
  double quantile() const override { return options_.quantile; }
  std::string cache_name() const override {
    return options_.cache.empty() ? Int8Calibrator::cache_name() : options_.cache;
  }

  std::optional<std::string> read_cache() override {
    if (options_.cache.empty()) return std::nullopt;
    std::optional<std::string> text = file_text(options_.cache);
    if (!text) return std::nullopt;
    if (text->empty()) {
      diag::warning(
          "Calibration cache was provided, but is empty. Will regenerate scales by running calibration.");
      return std::nullopt;
    }
    diag::info("Loading calibration cache from {}", options_.cache);
    return text;
  }

  void write_cache(const std::string& text) override {
    if (options_.cache.empty()) return;
    diag::info("Saving calibration cache to {}", options_.cache);
    AtomicFile file(options_.cache);
    file.write(text);
    file.commit();
  }

  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    if (source_ == nullptr) begin(inputs);
    const std::optional<TensorList> data = source_->next();
    if (!data) {
      source_ = nullptr;
      return std::nullopt;
    }
    std::vector<Tensor> tensors = coerce_inputs(*data, of_any_shape(inputs));
    TensorList batch;
    for (size_t i = 0; i < inputs.size(); ++i) batch.push_back({inputs[i].name, std::move(tensors[i])});
    return batch;
  }

 private:
  void begin(const std::vector<TensorInfo>& inputs) {
    require(bool(options_.data), ErrorCode::kInvalidArgument,
            "there are no data to calibrate with, and no calibration cache with scales");
    if (options_.is_random)
      diag::warning(
          "Int8 Calibration is using randomly generated input data.\n"
          "This could negatively impact accuracy if the inference-time input data is dissimilar to the "
          "randomly "
          "generated calibration data.\n{}",
          say(Say::kCalibrationData));
    source_ = options_.data();
    source_->begin(inputs);
  }

  CalibrationOptions options_;
  std::shared_ptr<DataSource> source_;
};

class GivenScales final : public Int8Calibrator {
 public:
  GivenScales(std::string text, std::string name)
      : name_(std::move(name)),
        text_(std::move(text)),
        algorithm_(CalibrationTable::parse(text_, name_).algorithm) {}
  CalibrationAlgorithm algorithm() const override { return algorithm_; }
  std::string cache_name() const override { return name_; }
  std::optional<std::string> read_cache() override { return text_; }
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>&) override { return std::nullopt; }

 private:
  std::string name_, text_;
  CalibrationAlgorithm algorithm_;
};

}  // namespace

std::shared_ptr<Int8Calibrator> make_calibrator(CalibrationOptions options) {
  return std::make_shared<DataCalibrator>(std::move(options));
}

std::shared_ptr<Int8Calibrator> given_scales(std::string text, std::string name) {
  return std::make_shared<GivenScales>(std::move(text), std::move(name));
}

std::shared_ptr<Int8Calibrator> cached_scales(const std::string& path) {
  std::optional<std::string> text = file_text(path);
  require(text.has_value(), ErrorCode::kNotFound, "there is no calibration cache {}", path);
  return given_scales(std::move(*text), path);
}

}  // namespace assay
