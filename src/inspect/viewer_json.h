// Parts shared by the payloads of models and of plans.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/type.h"
#include "base/json_writer.h"

namespace assay {

/// A graph of the page: its title and the nodes in it, those inside nodes excluded.
struct ViewedGraph {
  std::string title;
  std::vector<std::string> nodes = {};
};

/// The beginning of a node: kind is input, node or output.
struct ViewedNode {
  std::string_view kind;
  std::string id;
  std::string_view name;
  std::string_view op_type;
};

/// {kind, node_id, name, op_type: to be closed by the caller.
void begin_viewed_node(JsonWriter& json, const ViewedNode& node);
/// A list of strings, or null.
void write_extents(JsonWriter& json, const Dims* dims);
/// "graphs": [{title, nodes}].
void write_viewed_graphs(JsonWriter& json, std::span<const ViewedGraph> graphs);

struct ViewedInfo {
  std::string title;
  std::string_view model_type;
  size_t nodes = 0, inputs = 0, outputs = 0;
};
/// "model_path": ..., "model_info": {...}.
void write_viewed_info(JsonWriter& json, std::string_view path, const ViewedInfo& info);

}  // namespace assay
