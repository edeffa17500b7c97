#include "graph/damaged_model.h"

#include <algorithm>

namespace assay {
namespace {

// Field numbers of onnx.proto3.
constexpr uint64_t kModelGraph = 7;
constexpr uint64_t kGraphNode = 1, kGraphName = 2, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12;
constexpr uint64_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4, kNodeDomain = 7;
constexpr uint64_t kValueName = 1, kTensorName = 8;

/// The fields of a message whose bytes may be anything. A text that is longer than what is left ends with it.
class LenientFields {
 public:
  explicit LenientFields(std::string_view bytes) : rest_(bytes) {}

  /// True with the next field that is a text; others are skipped.
  bool next() {
    while (!rest_.empty()) {
      uint64_t key = 0;
      if (!varint(key)) return stop();
      number_ = key >> 3;
      uint64_t length = 0;
      switch (key & 7) {
        case 0:
          if (!varint(length)) return stop();
          break;
        case 1:
        case 5:
          if (!skip((key & 7) == 1 ? 8 : 4)) return stop();
          break;
        case 2:
          if (!varint(length)) return stop();
          is_cut_ = is_cut_ || length > rest_.size();
          text_ = rest_.substr(0, std::min<uint64_t>(length, rest_.size()));
          rest_.remove_prefix(text_.size());
          return true;
        default:
          return stop();
      }
    }
    return false;
  }

  uint64_t number() const { return number_; }
  std::string_view text() const { return text_; }
  bool is_cut() const { return is_cut_; }

 private:
  bool stop() {
    is_cut_ = true;
    rest_ = {};
    return false;
  }
  bool skip(size_t bytes) {
    if (rest_.size() < bytes) return false;
    rest_.remove_prefix(bytes);
    return true;
  }
  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  std::string_view rest_, text_;
  uint64_t number_ = 0;
  bool is_cut_ = false;
};

std::string name_in(std::string_view bytes, uint64_t field) {
  for (LenientFields f(bytes); f.next();)
    if (f.number() == field) return std::string(f.text());
  return {};
}

DamagedNode node_of(std::string_view bytes, bool& is_cut) {
  DamagedNode n;
  LenientFields f(bytes);
  while (f.next()) {
    const std::string text(f.number() == kNodeInput || f.number() == kNodeOutput || f.number() == kNodeName ||
                                   f.number() == kNodeOperator || f.number() == kNodeDomain
                               ? f.text()
                               : std::string_view());
    if (f.number() == kNodeInput) n.inputs.push_back(text);
    if (f.number() == kNodeOutput) n.outputs.push_back(text);
    if (f.number() == kNodeName) n.name = text;
    if (f.number() == kNodeOperator) n.op_type = text;
    if (f.number() == kNodeDomain) n.domain = text;
  }
  is_cut = is_cut || f.is_cut();
  return n;
}

void read_graph(std::string_view bytes, DamagedModel& model) {
  LenientFields f(bytes);
  while (f.next()) {
    if (f.number() == kGraphNode) model.nodes.push_back(node_of(f.text(), model.is_cut));
    if (f.number() == kGraphName) model.name = f.text();
    if (f.number() == kGraphInitializer) model.initializers.push_back(name_in(f.text(), kTensorName));
    if (f.number() == kGraphInput) model.inputs.push_back(name_in(f.text(), kValueName));
    if (f.number() == kGraphOutput) model.outputs.push_back(name_in(f.text(), kValueName));
  }
  model.is_cut = model.is_cut || f.is_cut();
}

/// The first node whose name, or whose output's name, stands in the sentence in quotes.
std::optional<size_t> named_node(const DamagedModel& model) {
  const auto is_named = [&](const std::string& name) {
    return !name.empty() && model.problem.find("'" + name + "'") != std::string::npos;
  };
  for (size_t i = 0; i < model.nodes.size(); ++i)
    if (is_named(model.nodes[i].name)) return i;
  for (size_t i = 0; i < model.nodes.size(); ++i)
    if (std::any_of(model.nodes[i].outputs.begin(), model.nodes[i].outputs.end(), is_named)) return i;
  return std::nullopt;
}

}  // namespace

std::optional<DamagedModel> read_damaged_model(std::string_view bytes, std::string_view problem) {
  DamagedModel model;
  model.problem = problem;
  LenientFields f(bytes);
  while (f.next())
    if (f.number() == kModelGraph) read_graph(f.text(), model);
  model.is_cut = model.is_cut || f.is_cut();
  // Random bytes have fields, too, but no operators.
  std::erase_if(model.nodes, [](const DamagedNode& n) { return n.op_type.empty() && n.outputs.empty(); });
  if (model.nodes.empty()) return std::nullopt;
  model.place = named_node(model);
  if (!model.place && model.is_cut) model.place = model.nodes.size() - 1;
  return model;
}

}  // namespace assay
