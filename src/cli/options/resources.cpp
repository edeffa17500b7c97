#include "cli/options/resources.h"

#include "assay/error.h"
#include "base/memory_limit.h"
#include "cli/values.h"

namespace assay::cli {
namespace {

constexpr int64_t kMin = int64_t{1} << 20;

}  // namespace

void add_resource_options(ArgParser& parser) {
  parser.add_group("Resources").options = {
      {.names = {"--memory-limit"},
       .help = "How many bytes all tensors may take together, as in 500M or 8G; what needs more ends in an "
               "error that says so. Files that are mapped do not count. Default: half of the memory that the "
               "machine or the control group has.",
       .metavar = "BYTES"},
  };
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
