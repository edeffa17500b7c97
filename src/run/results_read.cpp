#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>

#include "assay/error.h"
#include "base/python_repr.h"
#include "base/similar_name.h"
#include "base/wording.h"
#include "run/results.h"
#include "run/results_array.h"
#include "run/results_json.h"

namespace assay {
namespace {

using internal::excerpt;
using internal::JsonDocument;
using internal::JsonNode;
using internal::python_class;

/// Classes that upstream decodes, other than arrays and results.
constexpr std::array<std::string_view, 8> kOtherClasses = {
    "TacticReplayData", "Algorithm",          "TensorInfo",  "IterationContext",
    "ShardHints",       "AttentionLayerHint", "ShardTensor", "FormattedArray"};

constexpr std::string_view kHowToWriteArrays =
    "Write an array as {\"polygraphy_class\": \"ndarray\", \"array\": \"the .npy file in base64\"}, or save "
    "the inputs "
    "with numpy.savez(\"inputs.npz\", name=array).";

[[noreturn]] void malformed(std::string_view what) {
  fail(ErrorCode::kInvalidArgument, "the result file is malformed: {}", what);
}

[[noreturn]] void unknown_class(std::string_view name) {
  const bool known = std::find(kOtherClasses.begin(), kOtherClasses.end(), name) != kOtherClasses.end();
  if (known)
    fail(ErrorCode::kInvalidArgument, "an object of class {} stands where an array or a result belongs",
         name);
  Error e(ErrorCode::kUnsupported,
          fmt::format(
              "Could not decode serialized type: {}. This could be because a required module is missing. ",
              name == "Tensor" ? "torch.Tensor" : name));
  if (name == "Tensor")
    e.set_remedy("Save the data as NumPy arrays.");
  else if (name.ends_with("ndarray") || edit_distance(name, "ndarray", 2) <= 2)
    e.set_remedy(fmt::format("NumPy's arrays are of class 'ndarray'. {}", kHowToWriteArrays));
  throw e;
}

class Decoder {
 public:
  explicit Decoder(const std::string& path) : path_(path), document_(internal::parse_json_file(path)) {}

  const JsonNode& root() const { return document_.root; }
  bool holds_results() const { return root().class_name() == "RunResults"; }

  RunResults results() const {
    const JsonNode* runners = root().member("lst");
    if (runners == nullptr || !runners->is_list()) malformed("RunResults has no list 'lst'");
    RunResults out;
    for (const JsonNode& entry : runners->children) {
      const bool is_pair = entry.is_list() && entry.children.size() == 2 && entry.children[0].is_string() &&
                           entry.children[1].is_list();
      if (!is_pair) malformed("an entry of 'lst' is not a pair of a runner's name and its iterations");
      const std::string name(entry.children[0].text);
      std::vector<IterationResult> iterations;
      for (const JsonNode& iteration : entry.children[1].children)
        with_context([&] { return fmt::format("at iteration {} of runner {}", iterations.size(), name); },
                     [&] { iterations.push_back(iteration_result(iteration, name, iterations.size())); });
      out.runners.emplace_back(name, std::move(iterations));
    }
    return out;
  }

  InputData inputs() const {
    if (root().is_dict()) return {feed_dict(root(), 0)};
    if (!root().is_list())
      fail(ErrorCode::kInvalidArgument, "expected a list of feed dicts, found a Python {}: {}",
           python_class(root()), excerpt(root()));
    InputData out;
    for (const JsonNode& entry : root().children) out.push_back(feed_dict(entry, out.size()));
    return out;
  }

 private:
  IterationResult iteration_result(const JsonNode& node, const std::string& runner, size_t index) const {
    if (node.class_name() != "IterationResult") {
      if (!node.class_name().empty()) unknown_class(node.class_name());
      malformed("an iteration is not an IterationResult");
    }
    const JsonNode* outputs = node.member("outputs");
    const JsonNode* runtime = node.member("runtime");
    const JsonNode* name = node.member("runner_name");
    if (outputs == nullptr || runtime == nullptr || name == nullptr)
      malformed("an IterationResult lacks outputs, runtime or runner_name");
    IterationResult out{.runner_name = name->is_string() ? std::string(name->text) : "custom_runner"};
    if (const JsonNode* inputs = node.member("inputs_fingerprint"); inputs != nullptr && inputs->is_string())
      out.inputs = inputs->text;
    if (runtime->kind == JsonNode::Kind::kNumber)
      out.runtime = number(*runtime);
    else if (runtime->kind != JsonNode::Kind::kNull)
      malformed("a runtime is not a number");
    if (outputs->kind == JsonNode::Kind::kNull) return out;
    if (!outputs->is_dict() || !outputs->class_name().empty())
      malformed("the outputs of an iteration are not a dict");
    out.outputs =
        tensors(*outputs, "output", fmt::format("iteration {} of runner {} of {}", index, runner, path_));
    return out;
  }

  StoredTensorList feed_dict(const JsonNode& node, size_t index) const {
    if (!node.is_dict() || !node.class_name().empty())
      fail(ErrorCode::kInvalidArgument, "iteration {} is a Python {}, not a dict of input names and arrays",
           index, python_class(node));
    return with_context(
        [&] { return fmt::format("at iteration {}", index); },
        [&] { return tensors(node, "input", fmt::format("iteration {} of {}", index, path_)); });
  }

  /// For a duplicate name, the position of the first and the value of the last, as in Python's dict.
  StoredTensorList tensors(const JsonNode& dict, std::string_view kind, const std::string& place) const {
    StoredTensorList out;
    std::unordered_map<std::string_view, size_t> index;
    for (const JsonNode& n : dict.children) {
      const std::string where = fmt::format("in {} '{}'", kind, n.key);
      StoredTensor t = with_context([&] { return where; },
                                    [&] { return tensor(n, fmt::format("{} of {}", where, place)); });
      const auto [it, is_new] = index.emplace(n.key, out.size());
      if (is_new)
        out.push_back({std::string(n.key), std::move(t)});
      else
        out[it->second].tensor = std::move(t);
    }
    return out;
  }

  StoredTensor tensor(const JsonNode& node, const std::string& place) const {
    const std::string_view name = node.class_name();
    if (name == "LazyArray" || name == "LazyNumpyArray") {
      const JsonNode* values = node.member("values");
      if (values == nullptr) malformed("a LazyArray has no 'values'");
      return tensor(*values, place);
    }
    if (name == "ndarray") return internal::decode_ndarray(node, document_, place);
    if (name == "NarrowArray") return internal::decode_narrow_array(node, document_, place);
    if (!name.empty()) unknown_class(name);
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("the value is a Python {}, not an array", python_class(node)));
    throw e.set_remedy(std::string(kHowToWriteArrays));
  }

  static double number(const JsonNode& node) { return std::strtod(std::string(node.text).c_str(), nullptr); }

  std::string path_;
  JsonDocument document_;
};

template <typename Body>
auto decode_file(const std::string& path, Body body) {
  const Decoder decoder(path);  // its errors name the file
  return with_context([&] { return file_place(path); }, [&] { return body(decoder); });
}

}  // namespace

const std::vector<IterationResult>* RunResults::find(std::string_view runner_name) const {
  for (const auto& [name, iterations] : runners)
    if (name == runner_name) return &iterations;
  return nullptr;
}

RunResults load_run_results(const std::string& path) {
  return decode_file(path, [](const Decoder& d) {
    if (!d.holds_results()) {
      if (const std::string_view name = d.root().class_name(); !name.empty() && name != "ndarray")
        unknown_class(name);
      fail(ErrorCode::kInvalidArgument,
           "Provided JSON cannot be decoded into a RunResults.\nNote: JSON was decoded into a <class "
           "'{}'>:\n{}",
           python_class(d.root()), excerpt(d.root()));
    }
    return d.results();
  });
}

InputData load_inputs(const std::string& path) {
  return decode_file(path, [](const Decoder& d) {
    if (d.holds_results())
      fail(ErrorCode::kInvalidArgument,
           "The data loader returned an object that cannot be recognized as a feed_dict (Dict[str, "
           "Union[np.ndarray, "
           "torch.Tensor, DeviceView]]):\nNote: The object was:\n{}.\nHint: {}",
           excerpt(d.root()), say(Say::kMergeResults));
    return d.inputs();
  });
}

ResultsOrInputs load_results_or_inputs(const std::string& path) {
  return decode_file(path, [](const Decoder& d) -> ResultsOrInputs {
    if (d.holds_results()) return d.results();
    return d.inputs();
  });
}

}  // namespace assay
