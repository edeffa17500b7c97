// A stack for signal handlers.
#pragma once

namespace assay {

/// Makes handlers with SA_ONSTACK (such as those of Python, Go and Java) run on a separate stack when a
/// signal interrupts this thread, unless it already has one. Kernels that are generated
/// at run time (oneDNN's) use the stack pointer for data: a handler on the ordinary stack would write over
/// them.
void use_signal_stack();

}  // namespace assay
