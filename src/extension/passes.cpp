// Passes and loaders of modules: what changes models.
#include "extension/extension.h"
#include "extension/host.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"

namespace assay::extension {
namespace {

/// A model that the module changes without owning it.
AssayModel borrowed(Model& model) {
  return {std::shared_ptr<Model>(&model, [](Model*) {})};
}

class ModulePass final : public CustomPass {
 public:
  ModulePass(std::shared_ptr<Extension> extension, const AssayPass& pass)
      : extension_(std::move(extension)), pass_(pass) {
    def_ = {.name = pass_.name, .summary = pass_.summary != nullptr ? pass_.summary : "", .custom = this};
  }
  const PassDef& def() const { return def_; }

  bool run(Model& model) const override {
    AssayModel handle = borrowed(model);
    int32_t has_changed = 0;
    extension_->call("ran a pass", [&] { return pass_.run(pass_.self, &handle, &has_changed); });
    return has_changed != 0;
  }

 private:
  std::shared_ptr<Extension> extension_;
  AssayPass pass_;
  PassDef def_;
};

}  // namespace

void add_passes(const std::shared_ptr<Extension>& extension, PassSet& passes) {
  static_assert(static_cast<int>(PassStage::kSimplify) == ASSAY_STAGE_SIMPLIFY,
                "the interface lists the stages in this order");
  for (const AssayPass& p : extension->passes()) {
    const auto pass = std::make_shared<ModulePass>(extension, p);
    passes.add(pass->def(), static_cast<PassStage>(p.stage), p.since, pass);
  }
}

void apply_loader(const Extension& extension, const AssayLoader& loader,
                  const std::shared_ptr<Model>& model) {
  AssayModel handle{model};
  const AssayArgs args{extension.args()};
  extension.call(fmt::format("changed the model ({})", loader.name),
                 [&] { return loader.apply(loader.self, &handle, &args); });
  try {
    toposort(*model);
    verify_graph(*model->graph);
  } catch (const Error& e) {
    extension.refuse(fmt::format("changed the model ({})", loader.name),
                     fmt::format("it left a broken graph: {}", e.message()));
  }
}

}  // namespace assay::extension
