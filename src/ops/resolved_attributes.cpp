#include "ops/resolved_attributes.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

const Attribute* parameter_value(std::string_view name, const FunctionCall& call) {
  if (const Attribute* a = call.node->find_attribute(name)) return a;
  const auto& defaults = call.function->attribute_defaults;
  const auto it =
      std::find_if(defaults.begin(), defaults.end(), [&](const Attribute& a) { return a.name == name; });
  return it != defaults.end() ? &*it : nullptr;
}

bool refers_to_parameter(const Attribute& a) { return !a.ref_attr_name.empty(); }

}  // namespace

ResolvedAttributes::ResolvedAttributes(Node& n, const FunctionCall* call) : node_(n) {
  if (call == nullptr || std::none_of(n.attributes.begin(), n.attributes.end(), refers_to_parameter)) return;
  std::vector<Attribute> values;
  for (const Attribute& a : n.attributes) {
    if (!refers_to_parameter(a))
      values.push_back(a);
    else if (const Attribute* value = parameter_value(a.ref_attr_name, *call))
      values.push_back({.name = a.name, .data = value->data});
  }
  saved_ = std::exchange(n.attributes, std::move(values));
  is_changed_ = true;
}

ResolvedAttributes::~ResolvedAttributes() {
  if (is_changed_) node_.attributes = std::move(saved_);
}

}  // namespace assay
