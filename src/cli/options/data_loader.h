// Options of input data: random or loaded.
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
  std::optional<script::Reference> script = {};  ///< source of the data, in place of both
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

/// Creates the requested data, possibly a script's, for a calibration.
std::function<std::shared_ptr<DataSource>()> calibration_data(const DataOptions& data);
/// True for random data.
bool are_drawn(const DataOptions& data);

/// The requested data: the first iteration of a
/// script's, or those of the files, else random ones.
LoaderCache input_cache(const DataOptions& data);

}  // namespace assay::cli
