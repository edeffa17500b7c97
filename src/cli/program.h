// The program from its start to its end. In a Python wheel it lies in the library, which the module shares.
#pragma once

#include "assay/api.h"

namespace assay::cli {

/// What main() does: prepares the process and runs the command line; the exit status.
ASSAY_API int run_program(int argc, char** argv);

}  // namespace assay::cli
