#include "base/build_folder.h"

#include <filesystem>
#include <fstream>
#include <string_view>

namespace assay {

BuildFolder read_build_folder(const std::string& path) {
  BuildFolder found;
  std::ifstream file(path + ".build");
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (!value.starts_with('/')) continue;
    if (key == "python") found.python_environment = value;
    if (key == "extensions") found.extensions = value;
    if (key == "package") found.python_package = value;
  }
  return found;
}

const BuildFolder& build_folder() {
  static const BuildFolder found = [] {
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? BuildFolder() : read_build_folder(program.string());
  }();
  return found;
}

}  // namespace assay
