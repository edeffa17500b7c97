#include "run/tactic_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "assay/error.h"
#include "base/log.h"
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
  return {.implementation = integer(member(node, kClass, "implementation"), "an implementation"),
          .tactic = integer(member(node, kClass, "tactic"), "a tactic"),
          .inputs = tensors(node, "inputs"),
          .outputs = tensors(node, "outputs")};
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
  return fmt::format("(Implementation: {}, Tactic: {}) | Inputs: {} | Outputs: {}", implementation, tactic,
                     tuple_text(inputs), tuple_text(outputs));
}

TacticReplay load_tactic_replay(const std::string& path) {
  log::info("Loading tactic replay file from {}", path);
  const internal::JsonDocument document = internal::parse_json_file(path);
  return with_context([&] { return "in " + path; }, [&] { return decode_replay(document.root); });
}

TacticSet load_tactic_set(const std::string& path) {
  TacticSet set;
  std::unordered_map<std::string, size_t> index;
  for (const std::string& file : candidates(path)) {
    TacticReplay replay;
    try {
      replay = load_tactic_replay(file);
    } catch (const Error& e) {
      log::verbose("{} does not look like a tactic replay file, skipping.\nNote: {}", file, e.what());
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
