// From RunSettings to what a run is made of.
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

/// `building`: what TensorRT itself is asked for, as far as its runner can. Throws Error for a backend or
/// script that does not exist.
RunnerChoice runner_choice(const RunRunner& runner, const BackendSet& backends,
                           const EngineBuildOptions& building);
/// How sessions build and save their engines.
/// Returns what the engines compute in, known exactly as soon as one has been built.
std::shared_ptr<const NarrowTypes> set_engine(const EngineBuildOptions& building, SessionOptions& session);

/// Throws Error as runner_choice() and for formats that do not exist.
/// Calibrates on the data of the run.
EngineBuildOptions engine_building(const RunEngine& engine, const RunData& data);
ModelLoaderOptions model_loader_options(const RunModel& model);
DataLoaderOptions random_data_options(const RunData& data);
/// The data of a program or of a script; null: those of files, or random ones.
std::shared_ptr<assay::DataSource> own_data(const RunData& data);

/// What modules do to the model of a run.
using ModelEdits = std::vector<std::function<void(const std::shared_ptr<Model>&)>>;
/// What a run is made of, by its description: the only place where that is made. `registries` has the modules
/// of the run, loaded, and `edits` is what their loaders do. Throws Error for what no run can do.
assay::RunOptions run_options(const RunSettings& settings, const extension::Registries& registries,
                              const ModelEdits& edits);
/// The pictures that are saved; null: none.
std::shared_ptr<ErrorPictures> error_pictures_of(const RunSaving& saving);

}  // namespace assay::poly
