#include "engine/planner/region_options.h"

namespace assay::engine {

std::string Option::name() const {
  return candidate.variant.empty() ? std::string(tactic->name)
                                   : fmt::format("{}:{}", tactic->name, candidate.variant);
}

std::vector<OperandFormat> formats_of(const std::vector<Candidate::Operand>& operands) {
  std::vector<OperandFormat> formats;
  for (const Candidate::Operand& o : operands) {
    if (o.value == nullptr) continue;
    const Type& type = o.value->type;
    formats.push_back({stored_type(o.value, o.format),
                       type.has_shape() ? known_shape(*type.dims) : std::nullopt, o.format.layout});
  }
  return formats;
}

}  // namespace assay::engine
