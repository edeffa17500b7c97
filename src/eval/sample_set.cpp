#include "eval/sample_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "assay/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "graph/metadata_text.h"
#include "run/shape_fits.h"
#include "tensor/convert.h"
#include "tensor/npy.h"

namespace assay::eval {
namespace {

const Tensor& tensor_for(const Sample& sample, const TensorInfo& input, bool is_only) {
  const Tensor* found = find(sample.tensors, input.name);
  if (found == nullptr && is_only && sample.tensors.size() == 1) found = &sample.tensors.front().tensor;
  if (found == nullptr) {
    std::string names;
    for (const NamedTensor& t : sample.tensors) names += (names.empty() ? "" : ", ") + t.name;
    fail(ErrorCode::kInvalidArgument, "it has no value for the input '{}'; it has {}", input.name,
         names.empty() ? "none at all" : names);
  }
  return *found;
}

bool is_convertible(DType from, DType to) {
  const auto is_plain = [](DType t) { return is_integer(t) && !is_packed(t); };
  return (is_float(from) && is_float(to)) || (is_plain(from) && is_plain(to));
}

Tensor typed(const Tensor& t, const TensorInfo& input) {
  if (t.dtype() == input.type.dtype) return t;
  require(is_convertible(t.dtype(), input.type.dtype), ErrorCode::kInvalidArgument,
          "its value for the input '{}' is of type {}, and the input of type {}", input.name,
          dtype_name(t.dtype()), dtype_name(input.type.dtype));
  return convert(t, input.type.dtype, /*saturate=*/false);
}

Tensor shaped(Tensor t, const TensorInfo& input) {
  if (shape_fits(t.shape(), input.type.dims)) return t;
  Shape batched = t.shape();
  batched.insert_at(0, 1);
  if (shape_fits(batched, input.type.dims)) return t.reshaped(batched);
  // A row of an array that has no batch.
  if (t.rank() > 0 && t.dim(0) == 1) {
    Shape single = t.shape();
    single.erase_at(0);
    if (shape_fits(single, input.type.dims)) return t.reshaped(single);
  }
  fail(ErrorCode::kInvalidArgument, "its value for the input '{}' has the shape {}, and the input {}",
       input.name, t.shape().str(), bounded_shape_text(*input.type.dims));
}

}  // namespace

std::vector<Tensor> feed_of(const Sample& sample, const std::vector<TensorInfo>& inputs) {
  std::vector<Tensor> feed;
  feed.reserve(inputs.size());
  for (const TensorInfo& input : inputs)
    feed.push_back(shaped(typed(tensor_for(sample, input, inputs.size() == 1), input), input));
  return feed;
}

void take_labels(Sample& sample, const std::string& name) {
  const auto found = std::find_if(sample.tensors.begin(), sample.tensors.end(),
                                  [&](const NamedTensor& t) { return t.name == name; });
  require(found != sample.tensors.end(), ErrorCode::kInvalidArgument, "it has no labels '{}'", name);
  require(is_integer(found->tensor.dtype()), ErrorCode::kInvalidArgument,
          "its labels '{}' are of type {}, and labels are integers", name, dtype_name(found->tensor.dtype()));
  sample.labels = found->tensor.to_int64();
  sample.tensors.erase(found);
}

namespace {

/// Numbers of a line, up to a `#`.
std::vector<int64_t> line_of_labels(std::string_view line, const std::string& path, int64_t number) {
  std::vector<int64_t> labels;
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kBetween = " \t\r,";
  for (size_t at; (at = line.find_first_not_of(kBetween)) != std::string_view::npos;) {
    line.remove_prefix(at);
    const std::string_view word = line.substr(0, line.find_first_of(kBetween));
    int64_t label = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), label);
    require(read.ec == std::errc() && read.ptr == word.data() + word.size(), ErrorCode::kInvalidArgument,
            "{}: line {}: '{}' is no label: labels are integers", path, number, word);
    labels.push_back(label);
    line.remove_prefix(word.size());
  }
  return labels;
}

}  // namespace

Labels Labels::load(const std::string& path) {
  Labels labels;
  labels.path_ = path;
  if (path.ends_with(".npy")) {
    const Tensor t = load_npy(path);
    require(is_integer(t.dtype()) && t.rank() >= 1, ErrorCode::kInvalidArgument,
            "{} holds {} of shape {}, and labels are integers, a row a sample", path, dtype_name(t.dtype()),
            t.shape().str());
    labels.values_ = t.to_int64();
    const size_t width = t.dim(0) == 0 ? 0 : static_cast<size_t>(t.numel() / t.dim(0));
    for (int64_t i = 0; i < t.dim(0); ++i) labels.first_.push_back(labels.first_.back() + width);
    return labels;
  }
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  std::string_view text = file->bytes();
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::vector<int64_t> numbers = line_of_labels(line, path, number);
    if (numbers.empty()) continue;
    labels.values_.insert(labels.values_.end(), numbers.begin(), numbers.end());
    labels.first_.push_back(labels.values_.size());
  }
  return labels;
}

std::vector<int64_t> Labels::of(int64_t sample) const {
  require(sample < size(), ErrorCode::kInvalidArgument, "it has no label: {} holds {}", path_, size());
  const auto at = [&](int64_t i) {
    return values_.begin() + static_cast<std::ptrdiff_t>(first_[static_cast<size_t>(i)]);
  };
  return {at(sample), at(sample + 1)};
}

std::string Labels::digest() const {
  HashStream hash;
  hash.add({reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(int64_t)});
  hash.add({reinterpret_cast<const char*>(first_.data()), first_.size() * sizeof(size_t)});
  return fmt::format("xxh3:{:016x}", hash.value());
}

}  // namespace assay::eval
