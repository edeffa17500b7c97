// Samples that are rows of NumPy's arrays, and files of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "base/hash.h"
#include "base/resident_memory.h"
#include "eval/sample_set.h"
#include "run/results.h"
#include "tensor/npy.h"
#include "tensor/npz.h"

namespace assay::eval {
namespace {

namespace fs = std::filesystem;

/// Consumed rows of a mapped file are released in pieces of this many bytes.
constexpr size_t kReleased = size_t{64} << 20;

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

TensorList load_arrays(const std::string& path) {
  if (path.ends_with(".npy")) return {{"", load_npy(path)}};
  return NpzReader::open(path).load_all();
}

class ArraySamples final : public SampleSet {
 public:
  ArraySamples(std::string path, std::string labels)
      : path_(std::move(path)), labels_(std::move(labels)), arrays_(load_arrays(path_)) {
    require(!arrays_.empty(), ErrorCode::kInvalidArgument, "{} holds no arrays", path_);
    for (const NamedTensor& a : arrays_)
      require(a.tensor.rank() > 0 && a.tensor.dim(0) == arrays_.front().tensor.dim(0),
              ErrorCode::kInvalidArgument,
              "the arrays in {} have no common number of rows, a row a sample: '{}' has the shape {}, and "
              "'{}' {}",
              path_, arrays_.front().name, arrays_.front().tensor.shape().str(), a.name,
              a.tensor.shape().str());
  }

  Entries identity() const override {
    Entries entries = {{"kind", "arrays"}, {"name", file_name(path_)}};
    for (const NamedTensor& a : arrays_)
      entries.emplace_back("array " + a.name,
                           fmt::format("{} {}", dtype_name(a.tensor.dtype()), a.tensor.shape().str()));
    return entries;
  }
  void begin(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& /*outputs*/) override {
    const auto is_input = [&](const std::string& name) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const TensorInfo& i) { return i.name == name; });
    };
    const size_t others = labels_.empty() ? 0 : 1;
    if (inputs.size() == 1 && arrays_.size() == 1 + others) return;
    for (const TensorInfo& input : inputs)
      require(find(arrays_, input.name) != nullptr, ErrorCode::kInvalidArgument,
              "{} has no array for the input '{}'", path_, input.name);
    // An array that nothing takes would be read for nothing.
    std::erase_if(arrays_, [&](const NamedTensor& a) { return !is_input(a.name) && a.name != labels_; });
  }
  std::optional<int64_t> size() const override { return arrays_.front().tensor.dim(0); }

  Sample load(int64_t index) override {
    Sample sample{.index = index};
    for (const NamedTensor& a : arrays_) sample.tensors.push_back({a.name, row(a.tensor, index)});
    if (!labels_.empty()) take_labels(sample, labels_);
    return sample;
  }
  std::optional<Sample> next() override { return std::nullopt; }

 private:
  static Tensor row(const Tensor& array, int64_t index) {
    Shape shape = array.shape();
    shape[0] = 1;
    const int64_t width = shape.numel();
    if (array.dtype() == DType::kString)
      return Tensor::from<std::string>(
          shape,
          array.span<std::string>().subspan(static_cast<size_t>(index * width), static_cast<size_t>(width)));
    const size_t bytes = array.nbytes() / static_cast<size_t>(array.dim(0));
    const auto* data = static_cast<const char*>(array.data());
    const size_t at = bytes * static_cast<size_t>(index);
    if (bytes > 0 && at / kReleased != (at + bytes) / kReleased && at >= kReleased)
      drop_after_use(data + (at / kReleased - 1) * kReleased, kReleased);
    return Tensor::view(array.dtype(), shape, data + at, std::make_shared<const Tensor>(array));
  }

  std::string path_, labels_;
  TensorList arrays_;
};

class FolderSamples final : public SampleSet {
 public:
  FolderSamples(std::string folder, std::string labels)
      : folder_(std::move(folder)), labels_(std::move(labels)) {
    std::error_code ec;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ec)) {
      const std::string ending = entry.path().extension();
      if (ending == ".npy" || ending == ".npz" || ending == ".json")
        files_.push_back(entry.path().filename());
    }
    require(!ec, ErrorCode::kIo, "cannot read the folder {}: {}", folder_, ec.message());
    require(!files_.empty(), ErrorCode::kInvalidArgument,
            "there are no samples in {}: a sample is a file .npy, .npz or .json; a data loader script reads "
            "others",
            folder_);
    std::sort(files_.begin(), files_.end());
  }

  Entries identity() const override {
    HashStream hash;
    for (const std::string& file : files_) {
      std::error_code ec;
      hash.add(fmt::format("{} {}\n", file, fs::file_size(fs::path(folder_) / file, ec)));
    }
    return {{"kind", "folder"},
            {"name", fs::path(folder_ + "/").parent_path().filename().string()},
            {"files", std::to_string(files_.size())},
            {"names and sizes", fmt::format("xxh3:{:016x}", hash.value())}};
  }
  void begin(const std::vector<TensorInfo>& /*inputs*/, const std::vector<TensorInfo>& /*outputs*/) override {
  }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(files_.size()); }

  Sample load(int64_t index) override {
    const std::string path = (fs::path(folder_) / files_[static_cast<size_t>(index)]).string();
    return with_context([&] { return file_place(path); },
                        [&] {
                          Sample sample{.index = index, .tensors = read(path)};
                          if (!labels_.empty()) take_labels(sample, labels_);
                          return sample;
                        });
  }
  std::optional<Sample> next() override { return std::nullopt; }

 private:
  static TensorList read(const std::string& path) {
    if (!path.ends_with(".json")) return load_arrays(path);
    InputData iterations = load_inputs(path);
    require(iterations.size() == 1, ErrorCode::kInvalidArgument,
            "it holds {} sets of inputs, and a sample is one", iterations.size());
    return load_all(iterations.front());
  }

  std::string folder_, labels_;
  std::vector<std::string> files_;
};

class SavedSamples final : public SampleSet {
 public:
  SavedSamples(const std::vector<std::string>& paths, std::string labels) : labels_(std::move(labels)) {
    for (const std::string& path : paths)
      for (const std::string& file : iteration_files(path)) {
        InputData part = load_inputs(file);
        names_ += (names_.empty() ? "" : ", ") + file_name(file);
        std::move(part.begin(), part.end(), std::back_inserter(iterations_));
      }
  }
  Entries identity() const override {
    HashStream hash;
    for (const StoredTensorList& iteration : iterations_)
      for (const NamedStoredTensor& t : iteration)
        hash.add(fmt::format("{} {} {}\n", t.name, dtype_name(t.tensor.dtype()), t.tensor.shape().str()));
    return {{"kind", "saved inputs"},
            {"name", names_},
            {"names and shapes", fmt::format("xxh3:{:016x}", hash.value())}};
  }
  void begin(const std::vector<TensorInfo>& /*inputs*/, const std::vector<TensorInfo>& /*outputs*/) override {
  }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(iterations_.size()); }
  Sample load(int64_t index) override {
    Sample sample{.index = index, .tensors = load_all(iterations_[static_cast<size_t>(index)])};
    if (!labels_.empty()) take_labels(sample, labels_);
    return sample;
  }
  std::optional<Sample> next() override { return std::nullopt; }

 private:
  std::string labels_, names_;
  InputData iterations_;
};

class RandomSamples final : public SampleSet {
 public:
  explicit RandomSamples(DataLoaderOptions options) : options_(std::move(options)), loader_(options_) {}
  Entries identity() const override {
    return {{"kind", "random numbers"},
            {"seed", std::to_string(options_.seed)},
            {"iterations", std::to_string(options_.iterations)}};
  }
  void begin(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& /*outputs*/) override {
    if (options_.refuses_misfits) loader_.require_fit(inputs);
    inputs_ = inputs;
  }
  std::optional<int64_t> size() const override { return std::max<int64_t>(0, loader_.size()); }
  Sample load(int64_t index) override {
    const auto report = told_ ? DataLoader::Report::kNo : DataLoader::Report::kYes;
    told_ = true;
    return {.index = index, .tensors = loader_.load(index, inputs_, report), .labels = {}};
  }
  std::optional<Sample> next() override { return std::nullopt; }

 private:
  DataLoaderOptions options_;
  DataLoader loader_;
  std::vector<TensorInfo> inputs_;
  bool told_ = false;
};

}  // namespace

std::shared_ptr<SampleSet> array_samples(const std::string& path, const std::string& labels) {
  return std::make_shared<ArraySamples>(path, labels);
}
std::shared_ptr<SampleSet> folder_samples(const std::string& folder, const std::string& labels) {
  return std::make_shared<FolderSamples>(folder, labels);
}
std::shared_ptr<SampleSet> saved_samples(const std::vector<std::string>& paths, const std::string& labels) {
  return std::make_shared<SavedSamples>(paths, labels);
}
std::shared_ptr<SampleSet> random_samples(DataLoaderOptions options) {
  return std::make_shared<RandomSamples>(std::move(options));
}

}  // namespace assay::eval
