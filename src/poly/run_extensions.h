// Extension modules of a run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "assay/run_settings.h"
#include "extension/functions.h"
#include "extension/registries.h"

namespace assay::poly {

/// The loaded modules of a run. During its lifetime they have access to the run's options.
class RunModules {
 public:
  /// Loads the modules and lets them validate the options. Throws their Errors, and Error for an option that
  /// none of them has.
  explicit RunModules(const RunSettings& settings);
  ~RunModules();
  RunModules(const RunModules&) = delete;
  RunModules& operator=(const RunModules&) = delete;

  const extension::Registries& registries() const { return registries_; }
  /// Applies the loaders whose options are given to a model.
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> model_edits() const;

 private:
  class View;
  extension::Registries registries_;
  std::unique_ptr<View> view_;
};

/// Functions of modules. Throw Error (kNotFound) when none has it.
std::shared_ptr<const Comparison> module_comparison(const extension::Registries& registries,
                                                    const std::string& name);
std::shared_ptr<const Postprocess> module_postprocess(const extension::Registries& registries,
                                                      const std::string& name);

}  // namespace assay::poly
