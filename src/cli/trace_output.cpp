#include "cli/trace_output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/option_paths.h"
#include "view/trace_file.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "assay-trace-";

/// The folder is named after the process that made it, which a killed one leaves behind.
bool is_left_behind(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix)) return false;
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != ::geteuid()) return false;
  pid_t writer = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), writer);
  return writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH;
}

std::string make_folder() {
  std::error_code failed, ignored;
  const fs::path where = fs::temp_directory_path(failed);
  for (fs::directory_iterator it(where, failed), end; !failed && it != end; it.increment(failed))
    if (is_left_behind(it->path())) fs::remove_all(it->path(), ignored);
  std::string folder = (where / fmt::format("{}{}-XXXXXX", kPrefix, ::getpid())).string();
  const bool is_made = ::mkdtemp(folder.data()) != nullptr;
  require(is_made, ErrorCode::kIo, "cannot make a folder for the parts of a trace, {}: {}", folder,
          std::strerror(errno));
  return folder;
}

}  // namespace

void add_trace_option(ArgParser& parser) {
  parser.add_group("Timeline").options = {
      {.names = {"--trace"},
       .help =
           "Save what happens when, in all threads and child processes: steps by the names of their nodes, "
           "tactics being timed, waits, memory. By its ending for chrome://tracing and Perfetto (.json) or "
           "for "
           "Perfetto alone, in less space (.pftrace).",
       .metavar = "FILE"}};
}

std::string trace_path(const ParsedArgs& args) {
  return args.declares("--trace") ? args.text("--trace").value_or("") : std::string();
}

TraceRecording::TraceRecording(std::string name) : folder_(make_folder()) {
  trace::record(std::move(name), folder_);
}

TraceRecording::~TraceRecording() {
  if (!has_ended_) trace::take();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

const std::vector<trace::Process>& TraceRecording::processes() {
  if (has_ended_) return processes_;
  has_ended_ = true;
  processes_.push_back(trace::take());
  for (trace::Process& p : trace::left_by_children(folder_)) processes_.push_back(std::move(p));
  return processes_;
}

void TraceRecording::save(const std::string& path) {
  AtomicFile file(path);
  const PageSink sink = [&](std::string_view piece) { file.write(piece); };
  const auto write = content_of_ending(path) == Content::kTrace ? write_trace_perfetto : write_trace_json;
  write(processes(), sink);
  file.commit();
  int64_t left_out = 0;
  for (const trace::Process& p : processes_) left_out += p.left_out;
  if (left_out > 0)
    log::warning("The trace has the first {} spans of each process; {} are left out", trace::kMostEvents,
                 left_out);
  log::info("Timeline saved to {}", path);
}

}  // namespace assay::cli
