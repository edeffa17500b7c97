// The excuses of excuses.def by name, and the set of enabled ones.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>

#include "assay/arbiter.h"

namespace assay {

enum class Excuse : uint8_t {
#define ASSAY_EXCUSE(constant, name, sentence) constant,
#include "arbiter/excuses.def"
#undef ASSAY_EXCUSE
};

/// The size of the list of excuse_rules().
inline constexpr size_t kExcuses = 0
#define ASSAY_EXCUSE(constant, name, sentence) +1
#include "arbiter/excuses.def"
#undef ASSAY_EXCUSE
    ;

std::string_view excuse_name(Excuse e);

/// The enabled excuses: all that are not switched off.
class ExcuseSet {
 public:
  ExcuseSet() = default;
  /// All except these. Throws Error (kInvalidArgument) listing the names for an unknown one.
  explicit ExcuseSet(std::span<const std::string> switched_off);

  bool allows(Excuse e) const { return !off_.test(static_cast<size_t>(e)); }
  ExcuseSet without(Excuse e) const {
    ExcuseSet less = *this;
    less.off_.set(static_cast<size_t>(e));
    return less;
  }

 private:
  std::bitset<kExcuses> off_;
};

/// Records in the verdict that only this excuse decided it.
void excused_by(Excuse e, ArbiterVerdict& out);

}  // namespace assay
