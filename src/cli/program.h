// The program from its start to its end. In a Python wheel it is part of the library, which the module
// shares.
#pragma once

#include "assay/api.h"

namespace assay::cli {

/// Prepares the process and runs the command line; returns the exit status.
ASSAY_API int run_program(int argc, char** argv);

}  // namespace assay::cli
