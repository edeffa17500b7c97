#include "assay/interrupt.h"

#include <utility>

namespace assay {
namespace {

thread_local constinit const InterruptHook* innermost_hook = nullptr;

}  // namespace

InterruptHook::InterruptHook(std::function<bool()> wants_end)
    : wants_end_(std::move(wants_end)), outer_(std::exchange(innermost_hook, this)) {}

InterruptHook::~InterruptHook() { innermost_hook = outer_; }

InterruptShield::InterruptShield() : hidden_(std::exchange(innermost_hook, nullptr)) {}
InterruptShield::~InterruptShield() { innermost_hook = hidden_; }

bool has_interrupt_hook() { return innermost_hook != nullptr; }

bool is_interrupted() { return innermost_hook != nullptr && innermost_hook->wants_end_(); }

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

}  // namespace assay
