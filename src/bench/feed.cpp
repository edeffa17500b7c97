#include "bench/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "assay/error.h"
#include "base/mapped_file.h"
#include "base/similar_name.h"
#include "tensor/convert.h"

namespace assay::bench {
namespace {

/// An input with more elements than this is not a shape.
constexpr int64_t kMaxShapeElements = 64;

bool is_whole_number(DType t) { return t == DType::kBool || is_integer(t); }

Tensor random_tensor(DType dtype, const Shape& shape) {
  if (dtype == DType::kString) return Tensor::zeros(dtype, shape);
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  uint64_t state = 1;
  for (float& x : t.mutable_span<float>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x = static_cast<float>(state >> 40) * 0x1p-23F - 1;
    if (is_whole_number(dtype)) x = x < 0 ? 0 : 1;
  }
  return dtype == DType::kFloat32 ? t : convert(t, dtype);
}

void check_size(const InputCase& c, const std::string& path, size_t bytes) {
  const DType dtype = c.info.type.dtype;
  require(c.info.type.is_tensor() && bit_width(dtype) != 0, ErrorCode::kUnsupported,
          "the input '{}' of type {} cannot be read from a file of bytes", c.info.name, c.info.type.str());
  const size_t wanted = storage_bytes(dtype, c.shape.numel());
  require(bytes == wanted, ErrorCode::kInvalidArgument,
          "{} has {} bytes, but the input '{}' of type {} and shape {} takes {}", path, bytes, c.info.name,
          dtype_name(dtype), c.shape.str(), wanted);
}

Tensor tensor_of_file(const InputCase& c, const std::string& path) {
  const auto file = MappedFile::open(path);
  check_size(c, path, file->size());
  Tensor t = Tensor::allocate(c.info.type.dtype, c.shape);
  if (t.nbytes() > 0) std::memcpy(t.mutable_data(), file->data(), t.nbytes());
  return t;
}

Tensor tensor_of_elements(const InputCase& c) {
  return convert(Tensor::from<int64_t>(c.shape, c.elements), c.info.type.dtype);
}

}  // namespace

InputFiles parse_input_files(std::string_view option, const std::vector<std::string>& words) {
  InputFiles files;
  for (const std::string& word : words)
    for (const std::string& item : split_list(word)) {
      const size_t colon = item.rfind(':');
      require(colon != std::string::npos && colon > 0 && colon + 1 < item.size(), ErrorCode::kInvalidArgument,
              "{}: could not parse '{}'. Expected NAME:FILE, as in image:image.bin", option, item);
      std::string name = item.substr(0, colon);
      if (name.size() > 2 && name.front() == '\'' && name.back() == '\'')
        name = name.substr(1, name.size() - 2);
      files.emplace_back(std::move(name), item.substr(colon + 1));
    }
  return files;
}

ShapeSet with_elements_of_files(ShapeSet run, const std::vector<TensorInfo>& inputs,
                                const InputFiles& files) {
  for (const TensorInfo& info : inputs) {
    if (!takes_elements(info.type)) continue;
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.first == info.name; });
    const bool is_named =
        std::any_of(run.begin(), run.end(), [&](const InputExtents& e) { return e.name == info.name; });
    const Shape shape = *known_shape(*info.type.dims);
    if (file == files.end() || is_named || shape.numel() == 0 || shape.numel() > kMaxShapeElements) continue;
    run.push_back(
        {info.name, tensor_of_file({.info = info, .shape = shape, .elements = {}}, file->second).to_int64()});
  }
  return run;
}

void check_files(const std::vector<InputCase>& cases, const InputFiles& files) {
  std::vector<std::string_view> names;
  for (const InputCase& c : cases) names.push_back(c.info.name);
  for (const auto& [name, path] : files) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Error error(ErrorCode::kNotFound,
                fmt::format("the file {} is for '{}', which is not an input of the model", path, name));
    if (const std::string hint = name_hint(name, names); !hint.empty()) error.set_remedy(hint);
    throw error;
  }
  for (const InputCase& c : cases)
    for (const auto& [name, path] : files)
      if (name == c.info.name) check_size(c, path, MappedFile::open(path)->size());
}

std::vector<Tensor> make_feed(const std::vector<InputCase>& cases, const InputFiles& files) {
  check_files(cases, files);
  std::vector<Tensor> feed;
  for (const InputCase& c : cases) {
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.first == c.info.name; });
    if (file != files.end())
      feed.push_back(tensor_of_file(c, file->second));
    else
      feed.push_back(c.elements.empty() ? random_tensor(c.info.type.dtype, c.shape) : tensor_of_elements(c));
  }
  return feed;
}

}  // namespace assay::bench
