#include "inspect/node_hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "inspect/slots.h"

namespace assay {
namespace {

/// Larger constants are sampled at their ends and in the middle.
constexpr size_t kSample = 4096;

uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15U;
  h ^= h >> 32;
  return h * 0xD6E8FEB86659FD93U;
}

uint64_t hash_bytes(uint64_t h, const char* data, size_t bytes) {
  for (; bytes >= sizeof(uint64_t); data += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data, sizeof word);
    h = mix(h, word);
  }
  uint64_t rest = bytes;
  std::memcpy(reinterpret_cast<char*>(&rest) + 1, data, std::min<size_t>(bytes, 7));
  return mix(h, rest);
}

uint64_t hash_text(uint64_t h, std::string_view text) { return hash_bytes(h, text.data(), text.size()); }

uint64_t hash_type(DType dtype, const Shape& shape) {
  uint64_t h = static_cast<uint64_t>(dtype);
  for (const int64_t d : shape) h = mix(h, static_cast<uint64_t>(d));
  return h;
}

NodeHashes::Pair hash_tensor(const UnalignedTensor& t) {
  if (!t.defined()) return {};
  const uint64_t weak = hash_type(t.dtype(), t.shape());
  uint64_t strong = weak;
  if (t.dtype() == DType::kString) {
    const Tensor strings = t.aligned();
    for (const std::string& s : strings.span<std::string>()) strong = hash_text(strong, s);
    return {strong, weak};
  }
  const auto* data = static_cast<const char*>(t.data());
  const size_t bytes = t.nbytes();
  if (bytes <= 3 * kSample) return {hash_bytes(strong, data, bytes), weak};
  for (const size_t begin : {size_t{0}, bytes / 2, bytes - kSample})
    strong = hash_bytes(strong, data + begin, kSample);
  return {strong, weak};
}

class NodeHasher {
 public:
  NodeHasher(const Graph& graph, const ValueIds& ids) : graph_(graph), ids_(ids) {}

  std::unordered_map<const Node*, NodeHashes> run() {
    for (const auto& n : graph_.nodes()) hash_up(*n);
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      output_slots_[graph_.outputs[i]] = mix(output_slots_[graph_.outputs[i]], i + 1);
    for (auto n = graph_.nodes().rbegin(); n != graph_.nodes().rend(); ++n) hash_down(**n);
    return std::move(hashes_);
  }

 private:
  using Pair = NodeHashes::Pair;

  static Pair combine(Pair h, Pair value) { return {mix(h.strong, value.strong), mix(h.weak, value.weak)}; }
  static Pair same(uint64_t value) { return {value, value}; }

  static Pair local(const Node& n);
  static uint64_t attribute(const Attribute& a);
  static Pair subgraph(const Graph& g);
  Pair value(const Value* v);
  void hash_up(const Node& n);
  void hash_down(const Node& n);

  const Graph& graph_;
  const ValueIds& ids_;
  std::unordered_map<const Node*, NodeHashes> hashes_;
  std::unordered_map<const Value*, uint64_t> output_slots_;
  Slots slots_;
};

/// Everything but graphs, which local() adds.
uint64_t NodeHasher::attribute(const Attribute& a) {
  uint64_t h = mix(hash_text(1, a.name), a.data.index());
  h = hash_text(h, a.ref_attr_name);
  if (const auto* f = a.get_if<float>()) return hash_bytes(h, reinterpret_cast<const char*>(f), sizeof *f);
  if (const auto* i = a.get_if<int64_t>()) return mix(h, static_cast<uint64_t>(*i));
  if (const auto* s = a.get_if<std::string>()) return hash_text(h, *s);
  if (const auto* t = a.get_if<UnalignedTensor>()) return mix(h, hash_tensor(*t).strong);
  if (const auto* list = a.get_if<std::vector<float>>())
    return hash_bytes(h, reinterpret_cast<const char*>(list->data()), list->size() * sizeof(float));
  if (const auto* list = a.get_if<std::vector<int64_t>>())
    return hash_bytes(h, reinterpret_cast<const char*>(list->data()), list->size() * sizeof(int64_t));
  if (const auto* list = a.get_if<std::vector<std::string>>())
    for (const std::string& s : *list) h = hash_text(h, s);
  return h;
}

NodeHashes::Pair NodeHasher::subgraph(const Graph& g) {
  Pair h = same(mix(g.inputs.size(), g.outputs.size()));
  for (const auto& n : g.nodes()) h = combine(h, local(*n));
  return h;
}

NodeHashes::Pair NodeHasher::local(const Node& n) {
  Pair h = same(mix(hash_text(hash_text(2, n.op_type), n.domain), n.outputs().size()));
  for (const Value* v : n.inputs()) {
    h = combine(h, same(v == nullptr ? 3 : v->is_constant() ? 4 : 5));
    if (v != nullptr && v->is_constant()) h = combine(h, hash_tensor(v->tensor()));
  }
  // Attributes have no order.
  uint64_t sum = 0;
  Pair graphs;
  for (const Attribute& a : n.attributes) {
    sum += attribute(a);
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) {
      const Pair inner = subgraph(**g);
      graphs.strong += mix(hash_text(6, a.name), inner.strong);
      graphs.weak += mix(hash_text(6, a.name), inner.weak);
    }
  }
  h.strong = mix(h.strong, sum);
  return combine(h, graphs);
}

NodeHashes::Pair NodeHasher::value(const Value* v) {
  if (v == nullptr) return same(7);
  if (v->is_constant()) return same(8);  // local() has hashed it
  if (const auto id = ids_.find(v); id != ids_.end()) return same(mix(9, id->second));
  const Node* producer = v->producer();
  const auto known = producer != nullptr ? hashes_.find(producer) : hashes_.end();
  if (known == hashes_.end()) return same(mix(10, reinterpret_cast<uintptr_t>(v)));
  return combine(known->second.up, same(slots_.output(*producer, v)));
}

void NodeHasher::hash_up(const Node& n) {
  NodeHashes h;
  h.local = local(n);
  h.up = h.local;
  for (const Value* v : n.inputs()) h.up = combine(h.up, value(v));
  hashes_[&n] = h;
}

void NodeHasher::hash_down(const Node& n) {
  NodeHashes& mine = hashes_[&n];
  mine.down = mine.local;
  for (const Value* v : n.outputs()) {
    Pair uses;  // without order
    if (v != nullptr) {
      const auto slots = output_slots_.find(v);
      if (slots != output_slots_.end()) uses = same(slots->second);
      for (const Node* consumer : v->consumers()) {
        const auto known = hashes_.find(consumer);
        if (known == hashes_.end()) continue;  // in a subgraph
        const uint64_t slot = slots_.input(*consumer, v);
        uses.strong += mix(known->second.down.strong, slot);
        uses.weak += mix(known->second.down.weak, slot);
      }
    }
    mine.down = combine(mine.down, uses);
  }
}

}  // namespace

std::unordered_map<const Node*, NodeHashes> hash_nodes(const Graph& graph, const ValueIds& ids) {
  return NodeHasher(graph, ids).run();
}

}  // namespace assay
