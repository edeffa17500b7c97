#include "convert/constant_finder.h"

#include "graph/read.h"

namespace assay {
namespace {

/// The tensor in a Constant node; nothing for kinds that no adapter needs.
std::optional<Tensor> constant_node_value(const Node& n) {
  if (n.attributes.size() != 1 || !n.attributes[0].ref_attr_name.empty()) return std::nullopt;
  const Attribute& a = n.attributes[0];
  if (const auto* t = a.get_if<UnalignedTensor>()) return t->aligned();
  if (const auto* i = a.get_if<int64_t>()) return Tensor::scalar(*i);
  if (const auto* f = a.get_if<float>()) return Tensor::scalar(*f);
  if (const auto* list = a.get_if<std::vector<int64_t>>()) return Tensor::vector(*list);
  if (const auto* list = a.get_if<std::vector<float>>()) return Tensor::vector(*list);
  return std::nullopt;
}

}  // namespace

const Value* ConstantFinder::source(const Value* v) {
  std::vector<const Value*> passed;
  while (v != nullptr) {
    const Value* next = nullptr;
    if (const auto it = sources_.find(v); it != sources_.end())
      next = it->second;
    else if (v->producer() != nullptr && is_op(*v->producer(), "Identity"))
      next = v->producer()->input(0);
    else
      break;
    passed.push_back(v);
    v = next;
  }
  if (passed.size() > 1)
    for (const Value* p : passed) sources_[p] = v;
  return v;
}

std::optional<Tensor> ConstantFinder::value(const Value* v) {
  v = source(v);
  if (v == nullptr || v->is_overridable) return std::nullopt;
  if (v->tensor().defined()) return v->tensor().aligned();
  if (v->producer() != nullptr && is_op(*v->producer(), "Constant"))
    return constant_node_value(*v->producer());
  return std::nullopt;
}

}  // namespace assay
