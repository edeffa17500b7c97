#include "base/processor.h"

#include <fstream>

namespace assay {

std::string processor_field(std::string_view name) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t end = line.find_last_not_of(" \t", colon - 1);
    if (std::string_view(line).substr(0, end + 1) == name)
      return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  return "unknown";
}

std::string processor_name() { return processor_field("model name"); }

}  // namespace assay
