// A copy into other memory: for outputs that cannot stay where they are computed. The builder adds these
// steps itself.
#include <cstring>

#include "engine/tactics/move/copy_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_copy {
namespace {}  // namespace

constinit const TacticDef def = {
    .name = "copy",
    .summary = "a copy of a value, where two names need memory of their own",
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_copy
