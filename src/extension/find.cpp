// The search path of modules.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/build_folder.h"
#include "extension/extension.h"

namespace assay::extension {
namespace {

namespace fs = std::filesystem;

class Search {
 public:
  void add(const fs::path& place, const std::string& from) {
    std::error_code ignored;
    if (fs::is_directory(place, ignored)) {
      std::vector<fs::path> files;
      for (const fs::directory_entry& e : fs::directory_iterator(place, ignored))
        if (e.path().extension() == ".so") files.push_back(e.path());
      std::sort(files.begin(), files.end());
      for (const fs::path& f : files) add_file(f, from);
    } else if (place.extension() == ".so") {
      add_file(place, from);  // loading reports a missing file
    }
  }
  std::vector<Candidate> found;

 private:
  void add_file(const fs::path& file, const std::string& from) {
    std::error_code failed;
    const fs::path real = fs::canonical(file, failed);
    if (seen_.insert(failed ? file : real).second)
      found.push_back({.path = file.string(), .from = from, .words = words_beside(file)});
  }
  static std::vector<std::string> words_beside(fs::path file) {
    std::vector<std::string> words;
    std::ifstream list(file.replace_extension(".words"));
    for (std::string line; std::getline(list, line);)
      if (!line.empty()) words.push_back(line);
    return words;
  }
  std::set<fs::path> seen_;
};

fs::path user_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return fs::path(data) / "assay/extensions";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".local/share/assay/extensions" : fs::path();
}

}  // namespace

bool Candidate::is_needed_by(std::span<const std::string> arguments) const {
  return words.empty() || std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
           return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return argument.find(word) != std::string::npos;
           });
         });
}

/// A program in its build folder uses the modules of the build instead of the system's.
std::vector<Candidate> find_extensions() {
  Search search;
  if (const char* list = std::getenv("ASSAY_EXTENSION_PATH"); list != nullptr)
    for (std::string_view rest = list; !rest.empty();) {
      const size_t end = std::min(rest.find(':'), rest.size());
      // A relative entry would depend on the current folder; an empty one is ignored.
      if (rest.front() == '/') search.add(fs::path(rest.substr(0, end)), "ASSAY_EXTENSION_PATH");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  if (const fs::path user = user_folder(); !user.empty()) search.add(user, "the user's folder");
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (const std::string& built = build_folder().extensions; !built.empty()) {
    search.add(built, "the build's folder");
    return std::move(search.found);
  }
  for (const fs::path& folder :
       {program.parent_path().parent_path() / "lib/assay/extensions",
        fs::path("/usr/local/lib/assay/extensions"), fs::path("/usr/lib/assay/extensions")})
    if (!failed || folder.is_absolute()) search.add(folder, "the system's folder");
  return std::move(search.found);
}

}  // namespace assay::extension
