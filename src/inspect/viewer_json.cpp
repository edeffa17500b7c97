#include "inspect/viewer_json.h"

#include "inspect/element_preview.h"

namespace assay {
namespace {

/// Number of extents shown. No useful tensor has more axes, but a file may claim millions.
constexpr size_t kMaxExtents = 64;

}  // namespace

void begin_viewed_node(JsonWriter& json, const ViewedNode& node) {
  json.key(node.id).begin_object();
  json.key("kind").value(node.kind);
  json.key("node_id").value(node.id);
  json.key("name").value(node.name);
  json.key("op_type").value(node.op_type);
}

void write_extents(JsonWriter& json, const Dims* dims) {
  if (dims == nullptr) {
    json.null();
    return;
  }
  json.begin_array();
  for (size_t i = 0; i < dims->size() && i < kMaxExtents; ++i) {
    const Dim& d = (*dims)[i];
    json.value(d.is_symbol() ? shortened(d.symbol()) : std::to_string(d.value()));
  }
  if (dims->size() > kMaxExtents) json.value("…");
  json.end_array();
}

void write_viewed_graphs(JsonWriter& json, std::span<const ViewedGraph> graphs) {
  json.key("graphs").begin_array();
  for (const ViewedGraph& g : graphs) {
    json.begin_object();
    json.key("title").value(g.title);
    json.key("nodes").begin_array();
    for (const std::string& id : g.nodes) json.value(id);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_viewed_info(JsonWriter& json, std::string_view path, const ViewedInfo& info) {
  json.key("model_path").value(path);
  json.key("model_info").begin_object();
  json.key("title").value(info.title);
  json.key("model_type").value(info.model_type);
  json.key("num_nodes").value(static_cast<int64_t>(info.nodes));
  json.key("num_inputs").value(static_cast<int64_t>(info.inputs));
  json.key("num_outputs").value(static_cast<int64_t>(info.outputs));
  json.end_object();
}

}  // namespace assay
