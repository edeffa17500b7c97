#include "base/wording.h"

#include <memory>
#include <mutex>

namespace assay {
namespace {

constexpr WordingEntry kEntries[] = {
#define ASSAY_WORDING(id, key, words) {key, words},
#include "base/wording.def"
#undef ASSAY_WORDING
};

struct Current {
  std::mutex mutex;
  std::shared_ptr<const Wording> wording;
};

/// Never destroyed: an error may come from the destructor of another static object.
Current& current() {
  static auto* const c = new Current;
  return *c;
}

}  // namespace

std::span<const WordingEntry> wording_entries() { return kEntries; }

void set_wording(Wording wording) {
  Current& c = current();
  const std::lock_guard lock(c.mutex);
  c.wording = wording ? std::make_shared<const Wording>(std::move(wording)) : nullptr;
}

std::string_view key_of(Say what) { return kEntries[static_cast<size_t>(what)].key; }

std::string fill_wording(std::string_view words, std::span<const std::string> values) {
  std::string filled;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_value = words[i] == '{' && i + 2 < words.size() && words[i + 2] == '}';
    const size_t index = is_value ? static_cast<size_t>(words[i + 1] - '0') : values.size();
    if (index < values.size()) {
      filled += values[index];
      i += 2;
    } else {
      filled += words[i];
    }
  }
  return filled;
}

std::string say(Say what, const std::vector<std::string>& values) {
  const WordingEntry& entry = kEntries[static_cast<size_t>(what)];
  std::shared_ptr<const Wording> wording;
  {
    const std::lock_guard lock(current().mutex);
    wording = current().wording;
  }
  if (wording != nullptr)
    if (std::string words = (*wording)(entry.key, values); !words.empty()) return words;
  return fill_wording(entry.words, values);
}

Error& set_remedy(Error& error, Say what, const std::vector<std::string>& values) {
  return error.set_remedy(say(what, values), std::string(key_of(what)));
}

Error with_remedy(Error error, Say what, const std::vector<std::string>& values) {
  set_remedy(error, what, values);
  return error;
}

}  // namespace assay
