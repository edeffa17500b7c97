#include "ops/sums/sums.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace assay {
namespace {

struct Line {
  std::string_view domain, name;
  SumsOf function;
};

constexpr Line kLines[] = {
#define SUMS(domain, name, function) {domain, name, function},
#include "ops/sums/sums.def"
#undef SUMS
};

}  // namespace

SumsOf sums_of(const OpDef& op) {
  const auto* line =
      std::ranges::find_if(kLines, [&](const Line& l) { return l.domain == op.domain && l.name == op.name; });
  return line == std::end(kLines) ? nullptr : line->function;
}

}  // namespace assay
