#include "shard/hints.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/mapped_file.h"

namespace assay {
namespace {

constexpr const char* kClass = "polygraphy_class";

void write(JsonWriter& json, const std::vector<int64_t>& list) {
  json.begin_array();
  for (const int64_t x : list) json.value(x);
  json.end_array();
}

void write(JsonWriter& json, const std::optional<Permutation>& list) {
  if (list)
    write(json, *list);
  else
    json.null();
}

void write(JsonWriter& json, const std::optional<int64_t>& number) {
  if (number)
    json.value(*number);
  else
    json.null();
}

void write(JsonWriter& json, const std::optional<FusedAttention>& fused) {
  if (!fused) {
    json.null();
    return;
  }
  json.begin_object().key("is_causal").value(fused->is_causal).key("q_shuffle");
  write(json, fused->q_shuffle);
  json.key("k_shuffle");
  write(json, fused->k_shuffle);
  json.key("v_shuffle");
  write(json, fused->v_shuffle);
  json.key("nb_rank").value(fused->nb_rank).key(kClass).value("FusedAttention").end_object();
}

void write(JsonWriter& json, const AttentionLayerHint& layer) {
  json.begin_object().key("q").value(layer.q).key("gather_kv").value(layer.gather_kv);
  json.key("gather_q").value(layer.gather_q).key("replace");
  write(json, layer.replace);
  json.key(kClass).value("AttentionLayerHint").end_object();
}

void write(JsonWriter& json, const CollectiveHint& c) {
  json.begin_object().key("group_size").value(c.group_size).key("root").value(c.root);
  json.key("nb_rank").value(c.nb_rank).key("reduce_op").value(c.reduce_op).key("groups");
  write(json, c.groups);
  json.key(kClass).value("DistCollective").end_object();
}

void write(JsonWriter& json, const ShardTensor& t) {
  json.begin_object().key("name").value(t.name).key("seq_len_idx").value(t.seq_len_idx).key("rank");
  write(json, t.rank);
  json.key(kClass).value("ShardTensor").end_object();
}

template <typename T>
void write_all(JsonWriter& json, const std::vector<T>& list) {
  json.begin_array();
  for (const T& x : list) write(json, x);
  json.end_array();
}

}  // namespace

std::string_view parallelism_name(Parallelism p) { return p == Parallelism::kContext ? "CP" : "TP"; }

std::string hints_text(const ShardHints& hints) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  json.begin_object().key("parallelism").value(parallelism_name(hints.parallelism)).key("attention_layers");
  write_all(json, hints.attention_layers);
  json.key("dist_collectives");
  write(json, hints.dist_collectives);
  json.key("inputs");
  write_all(json, hints.inputs);
  json.key("outputs");
  write_all(json, hints.outputs);
  json.key("k_seq_len_idx").value(hints.k_seq_len_idx).key("v_seq_len_idx").value(hints.v_seq_len_idx);
  json.key("kv_rank");
  write(json, hints.kv_rank);
  json.key(kClass).value("ShardHints").end_object();
  return text;
}

void save_hints(const ShardHints& hints, const std::string& path) {
  AtomicFile file(path);
  file.write(hints_text(hints));
  file.commit();
}

ShardHints load_hints(const std::string& path) { return parse_hints(MappedFile::open(path)->bytes(), path); }

}  // namespace assay
