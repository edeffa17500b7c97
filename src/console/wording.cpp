#include "console/wording.h"

#include <algorithm>
#include <iterator>

#include "base/wording.h"

namespace assay {
namespace {

struct Entry {
  std::string_view key, words;
  std::string_view trtexec;  ///< empty: the same
};
constexpr Entry kEntries[] = {
#define ASSAY_CLI_WORDING(key, words, trtexec) {key, words, trtexec},
#include "console/wording.def"
#undef ASSAY_CLI_WORDING
};

}  // namespace

std::string words_of_options(std::string_view key, std::span<const std::string> values, bool as_trtexec) {
  const auto* const entry =
      std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.key == key; });
  if (entry == std::end(kEntries)) return {};
  return fill_wording(as_trtexec && !entry->trtexec.empty() ? entry->trtexec : entry->words, values);
}

void use_words_of_options(bool as_trtexec) {
  set_wording([as_trtexec](std::string_view key, std::span<const std::string> values) {
    return words_of_options(key, values, as_trtexec);
  });
}

}  // namespace assay
