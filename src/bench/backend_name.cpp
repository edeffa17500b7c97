#include "bench/backend_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "assay/builder.h"
#include "assay/error.h"
#include "base/similar_name.h"

namespace assay::bench {

BackendName parse_backend_name(const std::string& name, const BackendSet& set) {
  const size_t colon = name.find(':');
  BackendName parsed{.backend = name.substr(0, colon), .level = std::nullopt};
  if (set.find(parsed.backend) == nullptr) {
    std::vector<std::string_view> names;
    for (const Backend* b : set.all()) names.push_back(b->name);
    Error error(ErrorCode::kNotFound, fmt::format("'{}' is not a backend of this build; they are: {}",
                                                  parsed.backend, fmt::join(names, ", ")));
    if (const std::string hint = name_hint(parsed.backend, names); !hint.empty()) error.set_remedy(hint);
    throw error;
  }
  if (colon == std::string::npos) return parsed;
  require(parsed.backend == kEngine, ErrorCode::kInvalidArgument,
          "'{}': only the engine is built at an optimization level, as in engine:0", name);
  int level = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, level);
  require(error == std::errc() && stop == end && level >= 0 && level <= BuilderConfig::kMaxOptimizationLevel,
          ErrorCode::kInvalidArgument, "'{}': an optimization level is a number from 0 to {}", name,
          BuilderConfig::kMaxOptimizationLevel);
  parsed.level = level;
  return parsed;
}

}  // namespace assay::bench
