#include "base/signal_stack.h"

#include <signal.h>

#include <cstddef>
#include <memory>
#include <new>

namespace assay {
namespace {

/// Of one thread, until it ends.
class SignalStack {
 public:
  SignalStack() {
    stack_t now = {};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    bytes_.reset(new (std::nothrow) char[kBytes]);
    if (bytes_ == nullptr) return;
    const stack_t ours = {.ss_sp = bytes_.get(), .ss_flags = 0, .ss_size = kBytes};
    if (::sigaltstack(&ours, nullptr) != 0) bytes_ = nullptr;
  }
  ~SignalStack() {
    stack_t now = {};
    if (bytes_ == nullptr || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != bytes_.get()) return;
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t kBytes = size_t{64} << 10;  // the registers of AVX-512 and AMX take 11 KB of it
  std::unique_ptr<char[]> bytes_;
};

}  // namespace

void use_signal_stack() { static thread_local const SignalStack stack; }

}  // namespace assay
