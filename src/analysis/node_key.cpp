#include "analysis/node_key.h"

#include <algorithm>

#include "graph/read.h"

namespace assay {
namespace {

/// Constants of at most this size are compared by content. Bytes.
constexpr size_t kMaxCompared = 64;
/// Nodes with longer lists as attributes (trees) are not compared: they would be copied for each comparison.
constexpr size_t kMaxListed = 64 << 10;

void append_bytes(std::string& key, const void* data, size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
  key += ';';
}

bool append_attribute(std::string& key, const Attribute& a) {
  key += a.name + '=';
  if (const auto* f = a.get_if<float>())
    append_bytes(key, f, sizeof *f);
  else if (const auto* i = a.get_if<int64_t>())
    key += fmt::format("{};", *i);
  else if (const auto* s = a.get_if<std::string>())
    key += fmt::format("{}:{};", s->size(), *s);
  else if (const auto* list = a.get_if<std::vector<int64_t>>(); list != nullptr && list->size() <= kMaxListed)
    append_bytes(key, list->data(), list->size() * sizeof(int64_t));
  else if (const auto* floats = a.get_if<std::vector<float>>();
           floats != nullptr && floats->size() <= kMaxListed)
    append_bytes(key, floats->data(), floats->size() * sizeof(float));
  else
    return false;
  return true;
}

}  // namespace

bool append_small_constant(std::string& key, const Value* v) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || t->dtype() == DType::kString || t->nbytes() > kMaxCompared) return false;
  key += fmt::format("{}{}:", static_cast<int>(t->dtype()), t->shape().str());
  append_bytes(key, t->data(), t->nbytes());
  return true;
}

bool append_attributes(std::string& key, const Node& n) {
  std::vector<const Attribute*> sorted;
  for (const Attribute& a : n.attributes) sorted.push_back(&a);
  std::sort(sorted.begin(), sorted.end(),
            [](const Attribute* a, const Attribute* b) { return a->name < b->name; });
  return std::all_of(sorted.begin(), sorted.end(),
                     [&](const Attribute* a) { return append_attribute(key, *a); });
}

}  // namespace assay
