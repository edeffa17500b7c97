// Errors that a silent program does not show, but may have to name when it fails.
#pragma once

#include <string>

namespace assay::log {

/// Errors below the threshold are no longer lost: the first one is kept. Forgets the one that was kept.
void hold_errors(bool hold);
/// The first error that was kept; empty: there was none.
std::string held_error();

}  // namespace assay::log
