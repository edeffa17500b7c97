#include "run/loader_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/log.h"
#include "base/similar_name.h"
#include "compare/match_shape.h"
#include "graph/metadata_text.h"
#include "run/runner.h"
#include "tensor/convert.h"
#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// Data that do not fit an input. The caller may have another source.
struct Misfit {};

/// The tensor of that name; else the first whose name contains it or is contained in it, case ignored; else
/// the one at that place; else null.
const NamedTensor* find_similar(const TensorList& tensors, const std::string& name, size_t index) {
  if (index < tensors.size() && tensors[index].name == name) return &tensors[index];  // most often
  for (const NamedTensor& t : tensors)
    if (t.name == name) return &t;
  for (const NamedTensor& t : tensors)
    if (is_similar_name(name, t.name)) return &t;
  return index < tensors.size() ? &tensors[index] : nullptr;
}

struct Limits {
  double low, high;
};

/// The finite values of a type; nothing for types that hold every number as far as this matters.
std::optional<Limits> limits_of(DType t) {
  if (t == DType::kFloat16) return Limits{-65504, 65504};
  if (t == DType::kFloat32)
    return Limits{-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  if (!is_integer(t) || is_packed(t)) return std::nullopt;
  const int bits = bit_width(t) - (is_signed_integer(t) ? 1 : 0);
  const double high = std::ldexp(1.0, bits);
  return Limits{is_signed_integer(t) ? -high : 0, high - 1};
}

bool has_values_outside(const Tensor& tensor, const Limits& limits) {
  const Tensor numbers = to_float64(tensor);
  const auto values = numbers.span<double>();
  return std::any_of(values.begin(), values.end(),
                     [&](double v) { return v < limits.low || v > limits.high; });
}

Tensor cast(const Tensor& tensor, const TensorInfo& input) {
  const DType wanted = input.type.dtype;
  log::warning(
      "Input tensor: {} | Buffer dtype ({}) does not match expected input dtype ({}), attempting to cast. ",
      input.name, dtype_name(tensor.dtype()), dtype_name(wanted));
  if (const auto limits = limits_of(wanted); limits && tensor.dtype() != DType::kString &&
                                             !is_complex(tensor.dtype()) &&
                                             has_values_outside(tensor, *limits))
    log::warning("Some values in this input are out of range of {}. Unexpected behavior may ensue!",
                 dtype_name(wanted));
  return convert(tensor, wanted, /*saturate=*/false);
}

Tensor match_shape(const Tensor& tensor, const TensorInfo& input) {
  log::warning(
      "Input tensor: {} | Buffer shape ({}) does not match expected input shape ({}). Attempting to "
      "transpose/reshape. ",
      input.name, tensor.shape().str(), bounded_shape_text(*input.type.dims));
  std::vector<int64_t> dims;
  for (const Dim& d : *input.type.dims) dims.push_back(d.value());
  return try_match_shape(tensor, dims);
}

/// Makes cached data fit an input; throws Misfit after saying why they do not.
Tensor coerce(const TensorList& data, const TensorInfo& input, size_t index) {
  const NamedTensor* found = find_similar(data, input.name, index);
  if (found == nullptr) {
    log::report_critical("Input tensor: {} | Does not exist in the data loader cache.", input.name);
    throw Misfit{};
  }
  if (found->name != input.name)
    log::warning("Input tensor: {} | Buffer name ({}) does not match expected input name ({}).", input.name,
                 found->name, input.name);
  Tensor tensor = found->tensor;
  if (tensor.dtype() != input.type.dtype) tensor = cast(tensor, input);
  if (!shape_fits(tensor.shape(), input.type.dims)) tensor = match_shape(tensor, input);
  if (!shape_fits(tensor.shape(), input.type.dims)) {
    log::report_critical(
        "Input tensor: {} | Cannot reuse input data due to mismatch in shape or data type.\n"
        "Note: Cached input: [dtype={}, shape={}], Requested input: [dtype={}, shape={}]",
        input.name, dtype_name(tensor.dtype()), tensor.shape().str(), dtype_name(input.type.dtype),
        bounded_shape_text(*input.type.dims));
    throw Misfit{};
  }
  return tensor;
}

void require_tensors(const std::vector<TensorInfo>& inputs) {
  for (const TensorInfo& i : inputs)
    require(i.type.is_tensor() && i.type.dtype != DType::kUndefined, ErrorCode::kUnsupported,
            "input '{}' is of type {}, and only tensors can be fed", i.name, i.type.str());
}

}  // namespace

LoaderCache::LoaderCache(DataLoader loader, std::string save_path)
    : loader_(std::make_unique<DataLoader>(std::move(loader))), save_path_(std::move(save_path)) {}

LoaderCache::LoaderCache(InputData data, std::string save_path)
    : loaded_(std::move(data)), save_path_(std::move(save_path)) {}

int64_t LoaderCache::size() const {
  return loader_ != nullptr ? std::max<int64_t>(loader_->size(), 0) : static_cast<int64_t>(loaded_.size());
}

void LoaderCache::adopt_first_inputs(std::vector<TensorInfo> inputs) {
  if (fixed_) return;
  first_inputs_ = std::move(inputs);
  fixed_ = true;
}

void LoaderCache::set_inputs(std::vector<TensorInfo> inputs) {
  require_tensors(inputs);
  inputs_ = std::move(inputs);
  // As upstream does, a loader that gave nothing is asked again.
  if (fixed_ && size() > 0) return;
  first_inputs_ = inputs_;
  fixed_ = true;
  log::verbose("Loading inputs from data loader");
  std::optional<InputsWriter> writer;
  if (!save_path_.empty()) writer.emplace(save_path_);
  // Every iteration is drawn once here, as upstream does, so that what is wrong with the data shows before
  // the first inference.
  for (int64_t i = 0; i < size(); ++i) {
    if (loader_ != nullptr) {
      drawn_ = loader_->load(i, first_inputs_, DataLoader::Report::kYes);
      drawn_iteration_ = i;
      if (writer) writer->add(drawn_);
    } else if (writer) {
      writer->add(loaded_[static_cast<size_t>(i)]);
    }
  }
  if (size() == 0) log::warning("Data loader did not yield any input data.");
  if (!writer) return;
  log::info("Saving inference input data to {}", save_path_);
  writer->commit();
}

TensorList LoaderCache::cached(int64_t iteration) const {
  if (loader_ == nullptr) return load_all(loaded_[static_cast<size_t>(iteration)]);
  if (drawn_iteration_ != iteration) {
    drawn_ = loader_->load(iteration, first_inputs_, DataLoader::Report::kNo);
    drawn_iteration_ = iteration;
  }
  return drawn_;
}

std::string LoaderCache::fingerprint(int64_t iteration) const {
  TensorList data = cached(iteration);
  std::sort(data.begin(), data.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  HashStream hash;
  for (const NamedTensor& input : data)
    for_each_tensor(input.name, input.tensor, [&](const std::string& name, const Tensor& t) {
      hash.add(fmt::format("{} {} {}\n", name, dtype_name(t.dtype()), t.shape().str()));
      if (t.dtype() == DType::kString)
        for (const std::string& s : t.span<std::string>()) hash.add(fmt::format("{} {}\n", s.size(), s));
      else
        hash.add({static_cast<const char*>(t.data()), t.nbytes()});
    });
  return fmt::format("xxh3:{:016x}", hash.value());
}

std::vector<Tensor> LoaderCache::feed(int64_t iteration) const {
  const TensorList data = cached(iteration);
  std::vector<Tensor> result;
  TensorList reloaded;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& input = inputs_[i];
    try {
      result.push_back(coerce(data, input, i));
    } catch (const Misfit&) {
      log::warning(
          "Could not use buffer previously cached from data loader for input: {}. Attempting to reload "
          "inputs from the "
          "data loader.\nNote that this will only work if the data loader supports random access.\nPlease "
          "refer to "
          "warnings above for details on why the previously generated input buffer didn't work. ",
          input.name);
      if (reloaded.empty())
        reloaded = loader_ != nullptr ? loader_->load(iteration, inputs_, DataLoader::Report::kYes) : data;
      const Tensor* tensor = find(reloaded, input.name);
      if (tensor == nullptr)
        log::critical(ErrorCode::kInvalidArgument,
                      "Could not reload inputs from data loader. Are the runners running the same model? If "
                      "not, please "
                      "rewrite the data loader to support random access.");
      result.push_back(*tensor);
    }
  }
  return result;
}

}  // namespace assay
