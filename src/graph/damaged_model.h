// What can still be read of an ONNX file that is not a model: cut off, damaged, or against the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct DamagedNode {
  std::string name, op_type, domain;
  std::vector<std::string> inputs, outputs;
};

struct DamagedModel {
  std::string name;     ///< of the graph
  std::string problem;  ///< why it is not a model
  std::vector<DamagedNode> nodes;
  std::vector<std::string> inputs, outputs, initializers;
  bool is_cut = false;  ///< the bytes end, or make no sense, before the graph does
  /// The node that the problem names, or the last one that could be read where the file is cut.
  std::optional<size_t> place;
};

/// The nodes of the main graph that stand before the damage; what they hold besides names is left out.
/// Nothing when there are none. Reads each byte at most once per level of the format, and needs memory in
/// proportion to the file.
std::optional<DamagedModel> read_damaged_model(std::string_view bytes, std::string_view problem);

}  // namespace assay
