// The whole program's command line, and the page that it shows of itself.
#pragma once

#include <string>

#include "cli/args.h"
#include "cli/registries.h"

namespace assay::cli {

/// Every command with its options. Refers to the registries.
ArgParser program_parser(const std::string& program, const Registries& registries);

/// The page of the program when it is called alone: its purpose, examples, and its commands.
std::string first_page(const ArgParser& parser, int width);

}  // namespace assay::cli
