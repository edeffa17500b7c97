#include "cli/options/resources.h"

#include "assay/error.h"
#include "base/memory_limit.h"
#include "cli/values.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

constexpr int64_t kMin = int64_t{1} << 20;

}  // namespace

void add_resource_options(ArgParser& parser) {
  parser.add_group("Resources").options = poly::options_of("Resources");
}

void apply_resource_options(const ParsedArgs& args) {
  const auto text = args.text("--memory-limit");
  if (!text) return;
  const int64_t bytes = parse_byte_count(*text);
  require(bytes >= kMin, ErrorCode::kInvalidArgument,
          "--memory-limit: {} is too small; it must be at least {}", *text, kMin);
  set_memory_limit(bytes);
}

}  // namespace assay::cli
