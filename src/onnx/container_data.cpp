#include "onnx/container_data.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tensor/convert.h"

namespace assay::onnx {
namespace {

/// SequenceProto.DataType of the fields that hold elements, by their order in ContainerMessage.
constexpr int64_t kTensors = 1, kSparseTensors = 2, kSequences = 3, kMaps = 4, kOptionals = 5;

/// Checks that a sequence or optional holds only elements of elem_type.
void check_elements(const ContainerMessage& m) {
  const std::pair<int64_t, size_t> counts[] = {{kTensors, m.tensors.size()},
                                               {kSparseTensors, m.sparse_tensors.size()},
                                               {kSequences, m.sequences.size()},
                                               {kMaps, m.maps.size()},
                                               {kOptionals, m.optionals.size()}};
  require(m.elem_type >= 0 && m.elem_type <= kOptionals, ErrorCode::kInvalidModel,
          "its elements are of the unknown kind {}", m.elem_type);
  for (const auto& [type, count] : counts)
    require(count == 0 || type == m.elem_type, ErrorCode::kInvalidModel,
            "it says that its elements are of kind {}, but {} are of kind {}", m.elem_type, count, type);
}

std::vector<Tensor> decode_elements(const ContainerMessage& m, const std::shared_ptr<const void>& owner,
                                    ExternalData& external) {
  check_elements(m);
  std::vector<Tensor> list;
  for (const TensorMessage& t : m.tensors) list.push_back(decode_tensor(t, owner, external).aligned());
  for (const SparseTensorMessage& t : m.sparse_tensors)
    list.push_back(decode_sparse_tensor(t, owner, external));
  for (const ContainerMessage& s : m.sequences)
    list.push_back(decode_container(s, DType::kSequence, owner, external));
  for (const ContainerMessage& s : m.maps) list.push_back(decode_container(s, DType::kMap, owner, external));
  for (const ContainerMessage& s : m.optionals)
    list.push_back(decode_container(s, DType::kOptional, owner, external));
  return list;
}

/// Keys by the declared type; integers of any type are stored as int64.
Tensor decode_keys(const ContainerMessage& m) {
  require(is_known_dtype(m.key_type), ErrorCode::kInvalidModel, "its keys are of the unknown type {}",
          m.key_type);
  const auto dtype = static_cast<DType>(m.key_type);
  require(m.keys.empty() || m.string_keys.empty(), ErrorCode::kInvalidModel,
          "it has both {} integer keys and {} string keys", m.keys.size(), m.string_keys.size());
  if (dtype == DType::kString)
    return Tensor::vector(std::vector<std::string>(m.string_keys.begin(), m.string_keys.end()));
  require(is_integer(dtype) && m.string_keys.empty(), ErrorCode::kInvalidModel,
          "its keys are said to be of type {}, but are not", dtype_name(dtype));
  return convert(Tensor::vector(m.keys), dtype);
}

/// Single numbers or strings of one type as one tensor; undefined when they are something else.
Tensor as_vector(const std::vector<Tensor>& values) {
  if (values.empty()) return {};
  const DType dtype = values[0].dtype();
  for (const Tensor& t : values)
    if (t.is_container() || t.rank() != 0 || t.dtype() != dtype || is_packed(dtype)) return {};
  Tensor out = Tensor::allocate(dtype, Shape{static_cast<int64_t>(values.size())});
  if (dtype == DType::kString) {
    for (size_t i = 0; i < values.size(); ++i)
      out.mutable_data<std::string>()[i] = values[i].item<std::string>();
    return out;
  }
  auto* to = static_cast<char*>(out.mutable_data());
  for (const Tensor& t : values) {
    std::memcpy(to, t.data(), t.nbytes());
    to += t.nbytes();
  }
  return out;
}

Tensor decode_map(const ContainerMessage& m, const std::shared_ptr<const void>& owner,
                  ExternalData& external) {
  require(m.sequences.size() == 1, ErrorCode::kInvalidModel, "a map has {} lists of values",
          m.sequences.size());
  std::vector<Tensor> values = decode_elements(m.sequences[0], owner, external);
  Tensor vector = as_vector(values);
  return Tensor::map(decode_keys(m),
                     vector.defined() ? std::move(vector) : Tensor::sequence(std::move(values)));
}

}  // namespace

Tensor decode_container(const ContainerMessage& m, DType kind, const std::shared_ptr<const void>& owner,
                        ExternalData& external) {
  if (kind == DType::kMap) return decode_map(m, owner, external);
  std::vector<Tensor> elements = decode_elements(m, owner, external);
  if (kind == DType::kSequence) return Tensor::sequence(std::move(elements));
  require(elements.size() <= 1, ErrorCode::kInvalidModel, "an optional holds {} values", elements.size());
  return Tensor::optional(elements.empty() ? Tensor() : std::move(elements[0]));
}

Tensor load_container_file(const std::string& path, DType kind) {
  const auto file = MappedFile::open(path);
  return with_context([&] { return file_place(path); },
                      [&] {
                        ExternalData external(std::filesystem::path(path).parent_path().string());
                        const ContainerMessage m =
                            kind == DType::kMap ? read_map(file->bytes()) : read_sequence(file->bytes());
                        return decode_container(m, kind, file, external);
                      });
}

}  // namespace assay::onnx
