#include "script/iteration.h"

namespace assay::script {

Item to_item(const Iteration& iteration) {
  return Item::Dict{{"runner_name", iteration.runner_name},
                    {"runtime", iteration.runtime ? Item(*iteration.runtime) : Item()},
                    {"outputs", to_item(iteration.outputs)}};
}

}  // namespace assay::script
