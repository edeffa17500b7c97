#include "extension/registries.h"

#include <fmt/format.h>

#include "assay/error.h"

namespace assay::extension {

Registries::Registries()
    : ops(std::make_shared<OpSet>(built_in_ops())),
      passes(std::make_shared<PassSet>(built_in_passes())),
      tactics(std::make_shared<engine::TacticSet>(engine::built_in_tactics())),
      backends(built_in_backends()) {}

std::string place_of(const Extension& module) {
  return fmt::format("in the extension '{}' ({})", module.info().name, module.info().path);
}

void Registries::add(const std::shared_ptr<Extension>& module) {
  with_context([&] { return place_of(*module); },
               [&] {
                 for (const auto& other : extensions)
                   require(other->info().name != module->info().name, ErrorCode::kInvalidArgument,
                           "there is an extension of that name already: {}", other->info().path);
                 Registries changed = *this;
                 changed.ops = std::make_shared<OpSet>(*ops);
                 changed.passes = std::make_shared<PassSet>(*passes);
                 changed.tactics = std::make_shared<engine::TacticSet>(*tactics);
                 add_operators(module, *changed.ops);
                 add_passes(module, *changed.passes);
                 add_tactics(module, *changed.tactics);
                 add_runners(module, changed.backends);
                 changed.extensions.push_back(module);
                 *this = std::move(changed);
               });
}

RuntimeOptions Registries::for_runtime() const { return {.ops = ops, .passes = passes, .tactics = tactics}; }

void Registries::give_to(SessionOptions& options) const {
  options.ops = ops;
  options.passes = passes;
  options.tactics = tactics;
}

}  // namespace assay::extension
