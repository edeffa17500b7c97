#include "script/compiler.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/diagnostics.h"
#include "base/dynamic_library.h"
#include "base/mapped_file.h"
#include "base/sha1.h"
#include "script/embedded.h"
#include "script/process.h"

namespace assay::script {
namespace {

namespace fs = std::filesystem;
constexpr auto kUnusedDays = std::chrono::hours(24 * 60);

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

std::string on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0 ? program : "";
  for (const std::string& folder : absolute_folders("PATH"))
    if (const std::string path = folder + "/" + program; ::access(path.c_str(), X_OK) == 0) return path;
  return {};
}

/// The compiler and its first arguments.
std::vector<std::string> find_compiler() {
  std::vector<std::string> chosen = words(environment("CXX"));
  if (!chosen.empty()) {
    const std::string path = on_path(chosen[0]);
    if (path.empty()) {
      Error e(ErrorCode::kNotFound, fmt::format("CXX names '{}', which is no program", chosen[0]));
      throw e.set_remedy("Name a C++ compiler, as in CXX=g++.");
    }
    chosen[0] = path;
    return chosen;
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (const std::string path = on_path(name); !path.empty()) return {path};
  Error e(ErrorCode::kNotFound,
          "a C++ script needs a C++ compiler, and there is no c++, g++ or clang++ on PATH");
  throw e.set_remedy("Install one, name it in CXX, or give the script as a .so file.");
}

struct Ran {
  bool has_succeeded = false;
  std::string output;
};

Ran run(std::vector<std::string> arguments) {
  Pipe output;
  Process process(std::move(arguments), {}, output.writing.get());
  output.writing = Descriptor();
  Ran ran;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(output.reading.get(), buffer, sizeof buffer)) != 0;) {
    if (n > 0) ran.output.append(buffer, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  while (!process.wait(60)) {
  }
  ran.has_succeeded = process.has_succeeded();
  return ran;
}

std::string read_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  return std::string(file->bytes());
}

std::string digest(std::initializer_list<std::string_view> parts) {
  Sha1 sum;
  for (const std::string_view part : parts) {
    sum.update(std::to_string(part.size()) + ":");
    sum.update(part);
  }
  return sum.digest();
}

/// A folder of its own for one compilation.
class WorkFolder {
 public:
  WorkFolder() : path_((fs::temp_directory_path() / "assay-script-XXXXXX").string()) {
    const bool is_made = ::mkdtemp(path_.data()) != nullptr;
    require(is_made, ErrorCode::kIo, "cannot make a folder for a compiled script, {}: {}", path_,
            std::strerror(errno));
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The folder of compiled scripts; nothing, with a reason, if other users could write to it.
std::optional<std::string> cache_folder(std::string& reason) {
  std::string base = environment("XDG_CACHE_HOME");
  if (!base.starts_with('/')) {
    const std::string home = environment("HOME");
    if (!home.starts_with('/')) {
      reason = "neither XDG_CACHE_HOME nor HOME names a folder";
      return std::nullopt;
    }
    base = home + "/.cache";
  }
  const std::string folder = base + "/assay/scripts";
  std::error_code error;
  fs::create_directories(folder, error);
  struct stat st {};
  if (error || ::stat(folder.c_str(), &st) != 0) {
    reason = fmt::format("cannot make {}: {}", folder, error ? error.message() : std::strerror(errno));
    return std::nullopt;
  }
  if (st.st_uid != ::geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    reason = fmt::format("others may write to {}", folder);
    return std::nullopt;
  }
  return folder;
}

void remove_unused(const std::string& folder) {
  std::error_code ignored;
  const auto oldest = fs::file_time_type::clock::now() - kUnusedDays;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored))
    if (fs::is_regular_file(it->path(), ignored) && fs::last_write_time(it->path(), ignored) < oldest)
      fs::remove(it->path(), ignored);
}

/// The headers in the compiler's make rule, which follow the script itself.
std::vector<std::string> headers_of(const std::string& rule) {
  std::vector<std::string> out(1);
  const size_t colon = rule.find(": ");
  for (size_t i = colon == std::string::npos ? rule.size() : colon + 2; i < rule.size(); ++i) {
    const char c = rule[i];
    if (c == '\\' && i + 1 < rule.size() && rule[i + 1] != '\n') {
      out.back() += rule[++i];
    } else if (c == ' ' || c == '\n' || c == '\\') {
      if (!out.back().empty()) out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  if (out.back().empty()) out.pop_back();
  if (!out.empty()) out.erase(out.begin());
  return out;
}

class Compilation {
 public:
  explicit Compilation(const std::string& path)
      : path_(fs::absolute(path).string()), command_(find_compiler()) {
    for (const char* flag : {"-std=c++20", "-O2", "-fPIC", "-shared"}) command_.push_back(flag);
    for (std::string& flag : words(environment("CXXFLAGS"))) command_.push_back(std::move(flag));
    const Ran version = run({command_[0], "--version"});
    std::string command;
    for (const std::string& word : command_) command += word + "\n";
    key_ = digest({path_, read_file(path_), script_header(), command, version.output});
  }

  CompiledScript get() {
    std::string reason;
    const auto folder = cache_folder(reason);
    if (folder)
      if (const auto library = kept(*folder)) return {*library, nullptr};
    const auto work = std::make_shared<WorkFolder>();
    compile(*work);
    const std::string headers = list_headers(*work);
    if (folder) {
      try {
        return {keep(*folder, *work, headers), nullptr};
      } catch (const Error& e) {
        reason = e.message();
      }
    }
    diag::warning("The compiled script {} is not kept: {}", path_, reason);
    return {*work / "script.so", work};
  }

 private:
  std::string list_path(const std::string& folder) const { return folder + "/" + key_ + ".headers"; }
  std::string library_path(const std::string& folder, const std::string& headers) const {
    return folder + "/" + digest({key_, headers}) + ".so";
  }

  /// The library of an earlier run, unless a header has changed since.
  std::optional<std::string> kept(const std::string& folder) const {
    std::error_code ignored;
    const std::string list = list_path(folder);
    if (!fs::is_regular_file(list, ignored)) return std::nullopt;
    const std::string headers = read_file(list);
    std::istringstream lines(headers);
    for (std::string sum, file; lines >> sum && lines.ignore() && std::getline(lines, file);)
      if (!fs::is_regular_file(file, ignored) || digest({read_file(file)}) != sum) return std::nullopt;
    const std::string library = library_path(folder, headers);
    if (!fs::is_regular_file(library, ignored)) return std::nullopt;
    for (const std::string& used : {list, library})
      fs::last_write_time(used, fs::file_time_type::clock::now(), ignored);
    return library;
  }

  void compile(const WorkFolder& work) const {
    const std::string include = work / "include";
    fs::create_directories(include + "/assay");
    AtomicFile header(include + "/assay/script.h");
    header.write(script_header());
    header.commit();
    std::vector<std::string> command = command_;
    for (const std::string& word : {"-I" + include, std::string("-MMD"), std::string("-MF"), work / "headers",
                                    path_, std::string("-o"), work / "script.so"})
      command.push_back(word);
    diag::verbose("Compiling {} with {}", path_, command[0]);
    const Ran ran = run(std::move(command));
    if (!ran.output.empty() && ran.has_succeeded)
      diag::warning("{} says of {}:\n{}", command_[0], path_, ran.output);
    if (ran.has_succeeded) return;
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("the script {} does not compile; {} says:\n{}", path_, command_[0], ran.output));
    throw e;
  }

  /// `SUM FILE` in a line each, without our own header, which is part of the key.
  std::string list_headers(const WorkFolder& work) const {
    std::string out;
    for (const std::string& header : headers_of(read_file(work / "headers")))
      if (!header.starts_with(work.path())) {
        const std::string file = fs::absolute(header).string();
        out += digest({read_file(file)}) + " " + file + "\n";
      }
    return out;
  }

  std::string keep(const std::string& folder, const WorkFolder& work, const std::string& headers) const {
    remove_unused(folder);
    const std::string library = library_path(folder, headers);
    AtomicFile binary(library);
    binary.write(read_file(work / "script.so"));
    binary.make_executable();
    binary.commit();
    // The list is written last, so that it implies the library.
    AtomicFile list(list_path(folder));
    list.write(headers);
    list.commit();
    return library;
  }

  std::string path_;
  std::vector<std::string> command_;
  std::string key_;
};

}  // namespace

CompiledScript compile_script(const std::string& path) { return Compilation(path).get(); }

}  // namespace assay::script
