#include "run/data_source.h"

#include <algorithm>
#include <filesystem>

#include "base/diagnostics.h"
#include "base/expected_error.h"

namespace assay {
namespace {

class RandomData final : public DataSource {
 public:
  explicit RandomData(DataLoaderOptions options)
      : refuses_misfits_(options.refuses_misfits), loader_(std::move(options)) {}
  void begin(const std::vector<TensorInfo>& inputs) override {
    if (refuses_misfits_) loader_.require_fit(inputs);
    inputs_ = inputs;
  }
  std::optional<TensorList> next() override {
    if (next_ >= loader_.size()) return std::nullopt;
    return loader_.load(next_++, inputs_, DataLoader::Report::kYes);
  }

 private:
  bool refuses_misfits_;
  DataLoader loader_;
  std::vector<TensorInfo> inputs_;
  int64_t next_ = 0;
};

class SavedData final : public DataSource {
 public:
  explicit SavedData(std::vector<std::string> paths) {
    for (const std::string& path : paths)
      for (std::string& file : iteration_files(path)) files_.push_back(std::move(file));
  }
  void begin(const std::vector<TensorInfo>&) override {}
  std::optional<TensorList> next() override {
    while (iteration_ == current_.size()) {
      if (file_ == files_.size()) return std::nullopt;
      current_ = load_inputs_aloud(files_[file_++]);
      iteration_ = 0;
    }
    return load_all(std::exchange(current_[iteration_++], {}));
  }

 private:
  std::vector<std::string> files_;
  size_t file_ = 0;
  InputData current_;
  size_t iteration_ = 0;
};

template <typename Load>
auto load_aloud(const char* kind, const std::string& path, Load&& load) {
  diag::info("Loading {} from {}", kind, path);
  try {
    return load(path);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInvalidArgument && e.code() != ErrorCode::kResource) throw;
    throw ExpectedError(e);
  }
}

}  // namespace

std::unique_ptr<DataSource> random_data(DataLoaderOptions options) {
  return std::make_unique<RandomData>(std::move(options));
}

std::unique_ptr<DataSource> saved_data(std::vector<std::string> paths) {
  return std::make_unique<SavedData>(std::move(paths));
}

bool is_folder(const std::string& path) {
  std::error_code ec;
  return std::filesystem::is_directory(path, ec);
}

std::vector<std::string> iteration_files(const std::string& path) {
  if (!is_folder(path)) return {path};
  std::vector<std::string> files;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(path, ec))
    if (entry.path().extension() == ".json") files.push_back(entry.path().filename());
  require(!ec, ErrorCode::kIo, "cannot read the folder {}: {}", path, ec.message());
  std::sort(files.begin(), files.end());
  for (std::string& file : files) file = path.ends_with('/') ? path + file : path + "/" + file;
  return files;
}

InputData load_inputs_aloud(const std::string& path) { return load_aloud("input data", path, load_inputs); }
RunResults load_results_aloud(const std::string& path) {
  return load_aloud("inference results", path, load_run_results);
}

}  // namespace assay
