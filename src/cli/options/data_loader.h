// Where input data come from: drawn at random, or loaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/run.h"
#include "cli/args.h"
#include "run/data_loader.h"
#include "run/data_source.h"
#include "run/loader_cache.h"
#include "script/reference.h"

namespace assay::cli {

struct DataOptions {
  DataLoaderOptions random;
  std::vector<std::string> load_inputs;          ///< files; empty: random data
  std::optional<script::Reference> script = {};  ///< that gives the data, instead of both
};

/// `no_scripts` says why data from a script (--data-loader-script) are refused; empty: they are not.
OptionGroup& add_data_loader_options(ArgParser& parser, const std::string& no_scripts = {});
/// The same for a command that uses no data: the options are accepted, and each that is given gets a warning
/// that it has no effect on `what`.
void add_unused_data_loader_options(ArgParser& parser);
void warn_about_unused_data_options(const ParsedArgs& args, std::string_view what);
/// Warns about options that loaded data make pointless, and about deprecated ones. Throws Error.
void warn_about_data_options(const ParsedArgs& args);
/// The part of a run, with the options whose words mean something of their own. Warns as above. Throws Error.
void read_data_settings(const ParsedArgs& args, poly::RunSettings& settings);
/// Warns as above. Throws Error.
DataOptions read_data_options(const ParsedArgs& args, std::vector<InputShape> shapes);

/// Makes the data that the options ask for, a script's among them, for a calibration.
std::function<std::shared_ptr<DataSource>()> calibration_data(const DataOptions& data);
/// Whether they are drawn.
bool are_drawn(const DataOptions& data);

/// The data that the options ask for: of a script's only the first iteration, or those of the files, else
/// random ones.
LoaderCache input_cache(const DataOptions& data);

}  // namespace assay::cli
