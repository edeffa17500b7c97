// Where input data come from: drawn at random, or loaded.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "run/data_loader.h"

namespace assay::cli {

struct DataOptions {
  DataLoaderOptions random;
  std::vector<std::string> load_inputs;  ///< files; empty: random data
};

OptionGroup& add_data_loader_options(ArgParser& parser);
/// Warns about options that loaded data make pointless, and about deprecated ones. Throws Error.
DataOptions read_data_options(const ParsedArgs& args, std::vector<InputShape> shapes);

}  // namespace assay::cli
