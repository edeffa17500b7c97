#include "run/tactic_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "base/json_writer.h"
#include "base/python_repr.h"
#include "run/python_value.h"
#include "run/results_json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using internal::JsonNode;

std::string optional_text(const std::optional<int64_t>& v) { return v ? std::to_string(*v) : "None"; }

std::string tuple_text(const std::vector<TacticTensor>& tensors) {
  std::string text = "(";
  for (const TacticTensor& t : tensors) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("TensorInfo({}, {}, {}, {})", t.dtype,
                        python_tuple(std::vector<PythonValue>(t.strides.begin(), t.strides.end())),
                        optional_text(t.vectorized_dim), optional_text(t.components_per_element));
  }
  return text + (tensors.size() == 1 ? ",)" : ")");
}

/// FNV-1a, 64 bits.
uint64_t fnv(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

/// TensorRT's names of the types that it has.
std::string trt_dtype(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "DataType.FLOAT";
    case DType::kFloat16:
      return "DataType.HALF";
    case DType::kBFloat16:
      return "DataType.BF16";
    case DType::kInt8:
      return "DataType.INT8";
    case DType::kUInt8:
      return "DataType.UINT8";
    case DType::kInt32:
      return "DataType.INT32";
    case DType::kInt64:
      return "DataType.INT64";
    case DType::kBool:
      return "DataType.BOOL";
    default:
      return "DataType." + std::string(dtype_name(dtype));
  }
}

TacticTensor tactic_tensor(const TensorFormat& f) {
  TacticTensor t{
      .dtype = trt_dtype(f.dtype), .strides = {}, .vectorized_dim = -1, .components_per_element = 1};
  if (f.shape) {
    Shape shape = *f.shape;
    if (f.block > 0) {
      // In elements of `block` channels, as TensorRT counts in its vectorized formats.
      shape[1] = (shape[1] + f.block - 1) / f.block;
      t.vectorized_dim = 1;
      t.components_per_element = f.block;
    }
    t.strides = shape.strides();
  }
  return t;
}

void write_tensors(JsonWriter& json, const std::vector<TacticTensor>& tensors) {
  json.begin_array();
  for (const TacticTensor& t : tensors) {
    json.begin_object().key("dtype").value(t.dtype).key("strides").begin_array();
    for (const int64_t s : t.strides) json.value(s);
    json.end_array().key("vectorized_dim");
    t.vectorized_dim ? json.value(*t.vectorized_dim) : json.null();
    json.key("components_per_element");
    t.components_per_element ? json.value(*t.components_per_element) : json.null();
    json.key("polygraphy_class").value("TensorInfo").end_object();
  }
  json.end_array();
}

/// The member that an object of this class must have.
const JsonNode& member(const JsonNode& object, std::string_view class_name, std::string_view name) {
  const JsonNode* node = object.member(name);
  require(node != nullptr, ErrorCode::kInvalidArgument, "an object of class {} has no '{}'", class_name,
          name);
  return *node;
}

void require_class(const JsonNode& node, std::string_view class_name, std::string_view what) {
  require(node.is_dict() && node.class_name() == class_name, ErrorCode::kInvalidArgument,
          "{} is not an object of class {}", what, class_name);
}

int64_t integer(const JsonNode& node, std::string_view what) {
  int64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, status] = std::from_chars(node.text.data(), end, value);
  require(node.kind == JsonNode::Kind::kNumber && stop == end && status == std::errc(),
          ErrorCode::kInvalidArgument, "{} is not an integer of 64 bits", what);
  return value;
}

std::optional<int64_t> optional_integer(const JsonNode& node, std::string_view what) {
  if (node.kind == JsonNode::Kind::kNull) return std::nullopt;
  return integer(node, what);
}

TacticTensor tensor(const JsonNode& node) {
  constexpr std::string_view kClass = "TensorInfo";
  require_class(node, kClass, "an input or output of an algorithm");
  TacticTensor t;
  const JsonNode& dtype = member(node, kClass, "dtype");
  require(dtype.is_string(), ErrorCode::kInvalidArgument, "the dtype of a TensorInfo is not a string");
  t.dtype = std::string(dtype.text);
  const JsonNode& strides = member(node, kClass, "strides");
  require(strides.is_list(), ErrorCode::kInvalidArgument, "the strides of a TensorInfo are not a list");
  for (const JsonNode& stride : strides.children) t.strides.push_back(integer(stride, "a stride"));
  t.vectorized_dim = optional_integer(member(node, kClass, "vectorized_dim"), "a vectorized_dim");
  t.components_per_element =
      optional_integer(member(node, kClass, "components_per_element"), "a components_per_element");
  return t;
}

std::vector<TacticTensor> tensors(const JsonNode& algorithm, std::string_view name) {
  const JsonNode& list = member(algorithm, "Algorithm", name);
  require(list.is_list(), ErrorCode::kInvalidArgument, "the {} of an algorithm are not a list", name);
  std::vector<TacticTensor> out;
  for (const JsonNode& node : list.children) out.push_back(tensor(node));
  return out;
}

TacticAlgorithm algorithm(const JsonNode& node) {
  constexpr std::string_view kClass = "Algorithm";
  require_class(node, kClass, "its entry");
  const JsonNode* name = node.member("name");
  return {.implementation = integer(member(node, kClass, "implementation"), "an implementation"),
          .tactic = integer(member(node, kClass, "tactic"), "a tactic"),
          .inputs = tensors(node, "inputs"),
          .outputs = tensors(node, "outputs"),
          .name = name != nullptr && name->is_string() ? std::string(name->text) : ""};
}

/// The entry of that name, made when there is none.
template <typename T>
T& entry(std::vector<std::pair<std::string, T>>& list, std::unordered_map<std::string, size_t>& index,
         const std::string& name) {
  const auto [it, is_new] = index.emplace(name, list.size());
  if (is_new) list.emplace_back(name, T());
  return list[it->second].second;
}

TacticReplay decode_replay(const JsonNode& root) {
  if (root.class_name() != "TacticReplayData")
    fail(ErrorCode::kInvalidArgument,
         "Provided JSON cannot be decoded into a TacticReplayData.\nNote: JSON was decoded into a <class "
         "'{}'>:\n{}",
         internal::python_class(root), internal::excerpt(root));
  const JsonNode& layers = member(root, "TacticReplayData", "replay");
  require(layers.is_dict(), ErrorCode::kInvalidArgument, "the 'replay' of a TacticReplayData is not a dict");
  TacticReplay replay;
  std::unordered_map<std::string, size_t> index;
  for (const JsonNode& node : layers.children) {
    const std::string name(node.key);
    with_context([&] { return fmt::format("at layer '{}'", name); },
                 [&] { entry(replay, index, name) = algorithm(node); });
  }
  return replay;
}

/// Regular files of a folder and its subfolders, sorted; a path that is not a folder as it is.
std::vector<std::string> candidates(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) return {path};
  std::vector<std::string> files;
  for (const auto& item :
       fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied))
    if (item.is_regular_file(ec)) files.push_back(item.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string TacticAlgorithm::str() const {
  return fmt::format("(Implementation: {}, Tactic: {}) | Inputs: {} | Outputs: {}{}", implementation, tactic,
                     tuple_text(inputs), tuple_text(outputs), name.empty() ? "" : " | Name: " + name);
}

TacticAlgorithm tactic_algorithm(const Algorithm& a) {
  const std::string tactic = a.name.substr(0, a.name.find(':'));
  TacticAlgorithm out{.implementation = static_cast<int64_t>(fnv(tactic) >> 33),
                      .tactic = static_cast<int64_t>(fnv(a.name) >> 1),
                      .inputs = {},
                      .outputs = {},
                      .name = a.name};
  for (const TensorFormat& f : a.inputs) out.inputs.push_back(tactic_tensor(f));
  for (const TensorFormat& f : a.outputs) out.outputs.push_back(tactic_tensor(f));
  return out;
}

void save_tactic_replay(const TacticReplay& replay, const std::string& path) {
  diag::info("Saving tactic replay file to {}", path);
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object().key("replay").begin_object();
  for (const auto& [layer, a] : replay) {
    json.key(layer)
        .begin_object()
        .key("implementation")
        .value(a.implementation)
        .key("tactic")
        .value(a.tactic);
    json.key("inputs");
    write_tensors(json, a.inputs);
    json.key("outputs");
    write_tensors(json, a.outputs);
    json.key("name").value(a.name).key("polygraphy_class").value("Algorithm").end_object();
  }
  json.end_object().key("polygraphy_class").value("TacticReplayData").end_object();
  file.commit();
}

TacticReplay load_tactic_replay(const std::string& path) {
  diag::info("Loading tactic replay file from {}", path);
  const internal::JsonDocument document = internal::parse_json_file(path);
  return with_context([&] { return file_place(path); }, [&] { return decode_replay(document.root); });
}

TacticSet load_tactic_set(const std::string& path) {
  TacticSet set;
  std::unordered_map<std::string, size_t> index;
  for (const std::string& file : candidates(path)) {
    TacticReplay replay;
    try {
      replay = load_tactic_replay(file);
    } catch (const Error& e) {
      diag::verbose("{} does not look like a tactic replay file, skipping.\nNote: {}", file, e.what());
      continue;
    }
    set.paths.push_back(file);
    for (TacticReplay::value_type& layer : replay) {
      std::vector<TacticAlgorithm>& known = entry(set.choices, index, layer.first);
      if (std::find(known.begin(), known.end(), layer.second) == known.end())
        known.push_back(std::move(layer.second));
    }
  }
  return set;
}

TacticChoices subtract_tactics(const TacticChoices& bad, const TacticChoices& good) {
  std::unordered_map<std::string_view, const std::vector<TacticAlgorithm>*> index;
  for (const auto& [name, algorithms] : good) index.emplace(name, &algorithms);
  TacticChoices rest;
  for (const auto& [name, algorithms] : bad) {
    std::vector<TacticAlgorithm> left = algorithms;
    if (const auto it = index.find(name); it != index.end())
      std::erase_if(left, [&](const TacticAlgorithm& a) {
        return std::find(it->second->begin(), it->second->end(), a) != it->second->end();
      });
    if (!left.empty()) rest.emplace_back(name, std::move(left));
  }
  return rest;
}

}  // namespace assay
