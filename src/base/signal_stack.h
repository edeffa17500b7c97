// A stack for signal handlers.
#pragma once

namespace assay {

/// From now on handlers that ask for it (SA_ONSTACK; those of Python, Go and Java do) run on a stack of their
/// own when a signal interrupts this thread, unless it has such a stack already. Kernels that are generated
/// at run time (oneDNN's) use the stack pointer for data: a handler on the ordinary stack would write over
/// them.
void use_signal_stack();

}  // namespace assay
