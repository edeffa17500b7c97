// Converts RunSettings to the parts of a run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/backend_set.h"
#include "assay/run_settings.h"
#include "extension/registries.h"
#include "run/comparator.h"
#include "run/engine_building.h"

namespace assay {
class ErrorPictures;
}  // namespace assay

namespace assay::poly {

/// `building`: options for TensorRT itself, as far as its runner supports them. Throws Error for a backend or
/// script that does not exist.
RunnerChoice runner_choice(const RunRunner& runner, const BackendSet& backends,
                           const EngineBuildOptions& building);
/// Sets how sessions build and save their engines. Returns the engines' computation types, exact as soon as
/// one has been built.
std::shared_ptr<const NarrowTypes> set_engine(const EngineBuildOptions& building, SessionOptions& session);

/// Throws Error as runner_choice() and for formats that do not exist.
/// Calibrates on the data of the run.
EngineBuildOptions engine_building(const RunEngine& engine, const RunData& data);
ModelLoaderOptions model_loader_options(const RunModel& model);
DataLoaderOptions random_data_options(const RunData& data);
/// The data of a program or of a script; null: those of files, or random ones.
std::shared_ptr<assay::DataSource> own_data(const RunData& data);
/// The data, from the first set on.
std::shared_ptr<assay::DataSource> data_from_the_start(const RunData& data);

/// Edits of a run's model by modules.
using ModelEdits = std::vector<std::function<void(const std::shared_ptr<Model>&)>>;
/// The options of a run from its settings: the only place that creates them. `registries` includes the run's
/// loaded modules, and `edits` applies their loaders. Throws Error for impossible settings.
assay::RunOptions run_options(const RunSettings& settings, const extension::Registries& registries,
                              const ModelEdits& edits);
/// The plots to save; null: none.
std::shared_ptr<ErrorPictures> error_pictures_of(const RunSaving& saving);

}  // namespace assay::poly
