#include "run/refit_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/error.h"
#include "base/wording.h"

namespace assay {
namespace {

constexpr size_t kMaxNames = 5;

std::string some(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  return names.size() > kMaxNames ? fmt::format("{} and {} more", text, names.size() - kMaxNames) : text;
}

}  // namespace

RefitReport refit_engine(const std::shared_ptr<Engine>& engine, const Model& model, const std::string& path) {
  if (!engine->is_refittable()) {
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("the engine '{}' was not built to be refitted", engine->name()));
    throw set_remedy(e, Say::kBuildRefittable);
  }
  Refitter refitter(engine);
  RefitReport report;
  for (const std::string& name : refitter.all_weights()) {
    const Value* v = model.graph->find_value(name);
    if (v == nullptr || !v->is_constant() || !v->tensor().defined()) {
      ++report.kept;
      continue;
    }
    with_context([&] { return file_place(path); },
                 [&] { refitter.set_weights(name, v->tensor().aligned()); });
    ++report.given;
  }
  const std::vector<std::string> missing = refitter.missing_weights();
  if (!missing.empty() || (report.given == 0 && report.kept > 0)) {
    Error e(ErrorCode::kInvalidArgument,
            missing.empty() ? fmt::format("{} has none of the {} weights of the engine '{}'", path,
                                          report.kept, engine->name())
                            : fmt::format("{} lacks {} weight(s) that the engine '{}' needs: {}", path,
                                          missing.size(), engine->name(), some(missing)));
    throw e.set_remedy("Give the ONNX model that the plan was built from.");
  }
  refitter.refit();
  return report;
}

}  // namespace assay
