#include "ops/op_list.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace assay {
namespace {

constexpr const OpDef* kOps[] = {
#define ASSAY_OP(domain, name) &op_##domain##_##name::def,
#include "ops/ops.def"
#undef ASSAY_OP
};

}  // namespace

std::span<const OpDef* const> all_ops() { return kOps; }

const OpDef* find_op(std::string_view domain, std::string_view name) {
  // Keyed by name; the few operators that share a name across domains are told apart by the chain.
  static const auto* const kIndex = [] {
    auto* index = new std::unordered_multimap<std::string_view, const OpDef*>;
    for (const OpDef* op : kOps) index->emplace(op->name, op);
    return index;
  }();
  domain = canonical_domain(domain);
  const auto [first, last] = kIndex->equal_range(name);
  for (auto it = first; it != last; ++it)
    if (it->second->domain == domain) return it->second;
  return nullptr;
}

int64_t newest_opset(std::string_view domain) {
  static const auto* const kNewest = [] {
    auto* const newest = new std::map<std::string_view, int64_t>;
    for (const OpDef* op : kOps) (*newest)[op->domain] = std::max<int64_t>((*newest)[op->domain], op->versions.back().since);
    return newest;
  }();
  const auto it = kNewest->find(canonical_domain(domain));
  return it != kNewest->end() ? it->second : 0;
}

const OpVersion* version_for(const OpDef& op, int64_t opset) {
  const OpVersion* found = nullptr;
  for (const OpVersion& v : op.versions)
    if (v.since <= opset) found = &v;
  return found;
}

}  // namespace assay
