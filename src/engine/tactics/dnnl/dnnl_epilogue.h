// Epilogues supported by oneDNN's post-ops.
#pragma once

#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"
#include "engine/tactics/dnnl/dnnl_util.h"
#include "engine/tactics/epilogue.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

std::string epilogue_refusal(const std::vector<EpilogueStep>& epilogue);

}  // namespace assay::engine
