// Upstream's options for building and running an engine: `run --trt` and `convert`.
#pragma once

#include "assay/run.h"
#include "cli/args.h"
#include "engine/tactics/tactic_set.h"
#include "run/engine_building.h"

namespace assay::cli {

/// The options of a profile: minimum, optimum and maximum shapes. The n-th use of each belongs to profile n.
inline constexpr const char* kProfileOptions[] = {"--trt-min-shapes", "--trt-opt-shapes", "--trt-max-shapes"};
/// The number of profiles given.
size_t count_profiles(const ParsedArgs& args);

/// TensorRT Builder Configuration, and the supported network and engine options. `saves`: also --save-engine
/// and options of runs.
void add_engine_building_options(ArgParser& parser, bool runs);
/// The subset of these options that affects the build, by their first names; without those that have no
/// effect on a CPU, --save-engine and --optimization-profile.
std::vector<std::string> builder_option_names();
/// The class of --calib-base-cls.
const char* calibrator_class(CalibrationAlgorithm algorithm);
/// Logs a line for each given option that has no effect on a CPU.
void warn_about_idle_options(const ParsedArgs& args);
/// The part of a run. Says in a line each which of the given options do nothing on a CPU. `tactics`: those
/// that options may name. Throws Error.
void read_engine_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                          poly::RunSettings& settings);
/// Of read_engine_settings(), what is about how the engine is built.
void read_building_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                            poly::RunEngine& engine);
/// The result of read_engine_settings(), for commands that build an engine without a run. `input_shapes` are
/// those of --input-shapes.
EngineBuildOptions read_engine_building_options(const ParsedArgs& args, bool as_upstream,
                                                const std::vector<InputShape>& input_shapes,
                                                const engine::TacticSet& tactics);

}  // namespace assay::cli
