#include "ops/op_set.h"

#include <algorithm>

#include "assay/error.h"
#include "ops/op_list.h"

namespace assay {
namespace {

constexpr const OpDef* kOps[] = {
#define ASSAY_OP(domain, name) &op_##domain##_##name::def,
#include "ops/ops.def"
#undef ASSAY_OP
};

}  // namespace

void OpSet::add(const OpDef& op, std::shared_ptr<const void> owner) {
  require(!op.versions.empty(), ErrorCode::kInvalidArgument, "the operator {} of domain '{}' has no version",
          op.name, op.domain);
  require(find(op.domain, op.name) == nullptr, ErrorCode::kInvalidArgument,
          "there is an operator {} of domain '{}' already", op.name, op.domain);
  ops_.push_back(&op);
  by_name_.emplace(op.name, &op);
  int64_t& newest = newest_[op.domain];
  newest = std::max<int64_t>(newest, op.versions.back().since);
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

const OpDef* OpSet::find(std::string_view domain, std::string_view name) const {
  domain = canonical_domain(domain);
  const auto [first, last] = by_name_.equal_range(name);
  for (auto it = first; it != last; ++it)
    if (it->second->domain == domain) return it->second;
  return nullptr;
}

int64_t OpSet::newest_opset(std::string_view domain) const {
  const auto it = newest_.find(canonical_domain(domain));
  return it != newest_.end() ? it->second : 0;
}

const OpSet& built_in_ops() {
  static const auto* const kSet = [] {
    auto* set = new OpSet;
    for (const OpDef* op : kOps) set->add(*op);
    return set;
  }();
  return *kSet;
}

const OpSet& ops_of(const Model& model) { return model.ops != nullptr ? *model.ops : built_in_ops(); }

const OpVersion* version_for(const OpDef& op, int64_t opset) {
  const OpVersion* found = nullptr;
  for (const OpVersion& v : op.versions)
    if (v.since <= opset) found = &v;
  return found;
}

}  // namespace assay
