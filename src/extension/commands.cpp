// The command line's interface for modules.
#include <fmt/format.h>

#include "extension/extension.h"
#include "extension/host.h"

namespace assay::extension {

void validate_options(const Extension& extension, const AssayOptionGroup& group) {
  if (group.validate == nullptr) return;
  const AssayArgs args{extension.args()};
  extension.call("checked its options", [&] { return group.validate(group.self, &args); });
}

int run_command(const Extension& extension, const AssayCommand& command) {
  const AssayArgs args{extension.args()};
  int32_t exit_code = 0;
  extension.call(fmt::format("ran the command {}", command.name),
                 [&] { return command.run(command.self, &args, &exit_code); });
  return exit_code;
}

}  // namespace assay::extension
