#include "ops/sums/sums.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace assay {
namespace {

struct Line {
  std::string_view domain, name;
  SumsOf function;
  std::string_view reason;  ///< where there is none
};

constexpr Line kLines[] = {
#define SUMS(domain, name, function) {domain, name, function, {}},
#define NO_SUMS(domain, name, reason) {domain, name, nullptr, reason},
#include "ops/sums/sums.def"
#undef SUMS
#undef NO_SUMS
};

const Line* line_of(const OpDef& op) {
  const auto* line =
      std::ranges::find_if(kLines, [&](const Line& l) { return l.domain == op.domain && l.name == op.name; });
  return line == std::end(kLines) ? nullptr : line;
}

}  // namespace

SumsOf sums_of(const OpDef& op) {
  const Line* line = line_of(op);
  return line == nullptr ? nullptr : line->function;
}

std::string_view why_without_sums(const OpDef& op) {
  const Line* line = line_of(op);
  return line == nullptr ? std::string_view() : line->reason;
}

}  // namespace assay
