// fuzz_targets: feeds code that reads a stranger's bytes with inputs that it changes at random, all in one
// process.
//
//   fuzz_targets [--only NAME] [--runs N | --seconds N] [--seed N] [--corpus FOLDER] [--faults FOLDER]
//   [--list] fuzz_targets --only NAME FILE...
//
// Each target (targets.def, target.h) gets N executions, or as many as fit in N seconds. Where the libraries
// are built with ASSAY_FUZZ, inputs that reach new code are kept and changed further; --corpus keeps them for
// the next time. The first fault ends the process; its input is then in the folder --faults (default:
// fuzz-faults). With files, these are all that the target gets.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>

#include "assay/error.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "fuzz/targets/feedback.h"
#include "fuzz/targets/target.h"

extern "C" {
void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));
const char* __asan_default_options();
/// One allocation beyond this, or a process beyond that, is a fault.
const char* __asan_default_options() {
  return "handle_abort=1:handle_sigill=1:allocator_may_return_null=0:max_allocation_size_mb=512:hard_rss_"
         "limit_mb=4096:"
         "quarantine_size_mb=16:malloc_context_size=10:detect_stack_use_after_return=0:print_summary=1";
}
const char* __ubsan_default_options();
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

/// The memory limit of one tensor or picture.
constexpr int64_t kMemory = int64_t{64} << 20;
constexpr size_t kMaxKept = 20000;

struct Options {
  std::string only, corpus, faults = "fuzz-faults";
  uint64_t seed = 1, runs = 0;
  double seconds = 0;
  bool list = false;
  std::vector<std::string> files;
};

constexpr const Target* kTargets[] = {
#define FUZZ_TARGET(name) &target_##name::def,
#include "fuzz/targets/targets.def"
#undef FUZZ_TARGET
};

/// For the handlers of signals: what is fed now, and where it goes when that is a fault.
const char* fed = nullptr;
size_t fed_bytes = 0;
volatile sig_atomic_t ticks = 0;
char fault_path[4096];

void save_fault() {
  if (fed == nullptr) return;
  const int fd = ::open(fault_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) {
    for (size_t done = 0; done < fed_bytes;) {
      const ssize_t n = ::write(fd, fed + done, fed_bytes - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    ::close(fd);
  }
  const auto say = [](const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  say("\nFAULT: the input is in ");
  say(fault_path);
  say("\n");
  fed = nullptr;
}

/// The sanitizers' callback is not called for what the driver itself finds.
[[noreturn]] void die() {
  save_fault();
  std::abort();
}

void on_tick(int) {
  ticks = ticks + 1;
  if (ticks <= kMaxSeconds) return;
  constexpr char kText[] = "\nFAULT: one input takes too long\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
  die();
}

void on_death(int signal) {
  save_fault();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch() {
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback(save_fault);
  else
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, on_death);
  // A second of processor time each; the count restarts with every input.
  std::signal(SIGPROF, on_tick);
  const itimerval second{.it_interval = {1, 0}, .it_value = {1, 0}};
  ::setitimer(ITIMER_PROF, &second, nullptr);
}

/// Feeds one input. Returns why it was refused, or nothing when it was accepted; or the process ends.
std::string feed(const Target& target, const std::string& input) {
  // A block of exactly its size shows reads beyond it.
  const std::unique_ptr<char[]> block(new char[input.size()]);
  std::copy(input.begin(), input.end(), block.get());
  fed = input.data();
  fed_bytes = input.size();
  ticks = 0;
  std::string refusal;
  try {
    target.run({block.get(), input.size()});
  } catch (const Error& e) {
    refusal = e.what();
    if (e.code() == ErrorCode::kInternal) {
      std::fprintf(stderr, "an internal error: %s\n", e.what());
      die();
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "an exception that is not an Error: %s\n", e.what());
    die();
  }
  fed = nullptr;
  return refusal;
}

uint64_t hash(std::string_view text) {
  uint64_t h = 14695981039346656037u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The inputs that changes begin from, in memory and in a folder.
class Corpus {
 public:
  Corpus(const Target& target, const std::string& folder) : inputs_(target.seeds()) {
    if (folder.empty()) return;
    folder_ = fs::path(folder) / target.name;
    fs::create_directories(folder_);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) inputs_.push_back(read_whole(file));
  }
  const std::vector<std::string>& inputs() const { return inputs_; }
  void add(const std::string& input) {
    if (inputs_.size() >= kMaxKept) return;
    inputs_.push_back(input);
    if (folder_.empty()) return;
    std::ofstream(folder_ / fmt::format("{:016x}", hash(input)), std::ios::binary) << input;
  }
  /// Later ones, which reached more, are likelier.
  const std::string& some(Random& r) const {
    return inputs_[std::max(r.below(inputs_.size()), r.below(inputs_.size()))];
  }

 private:
  std::vector<std::string> inputs_;
  fs::path folder_;
};

/// The head of one input with the tail of another.
void splice(std::string& input, const std::string& other, Random& r) {
  if (other.empty()) return;
  input.resize(r.below(input.size() + 1));
  input += other.substr(r.below(other.size()));
}

std::string changed(const Target& target, const Corpus& corpus, Random& r) {
  std::string input = corpus.some(r);
  for (size_t changes = 1 + r.below(r.chance(70) ? 3 : 12); changes > 0; --changes) {
    if (target.mutate != nullptr && r.chance(50))
      target.mutate(input, r);
    else if (r.chance(4))
      splice(input, corpus.some(r), r);
    else
      mutate_bytes(input, r, target.words);
  }
  if (input.size() > target.most_bytes) input.resize(target.most_bytes);
  return input;
}

/// Of processor time, which a busy machine does not stretch.
double seconds_used() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int64_t most_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

void fuzz(const Target& target, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::snprintf(fault_path, sizeof fault_path, "%s/%s-%d", options.faults.c_str(), target.name,
                static_cast<int>(::getpid()));
  Corpus corpus(target, options.corpus);
  uint64_t runs = 0, accepted = 0;
  double slowest = 0;
  const size_t before = places_reached();
  bool has_feedback = true;
  const auto run = [&](const std::string& input) {
    if (has_feedback) start_feedback();
    const double before_run = seconds_used();
    accepted += feed(target, input).empty() ? 1 : 0;
    slowest = std::max(slowest, seconds_used() - before_run);
    ++runs;
    return has_feedback && found_new();
  };
  for (const std::string& input : corpus.inputs()) run(input);
  // Without ASSAY_FUZZ nothing tells; to look for it would take longer than many an input.
  has_feedback = places_reached() > before;
  const size_t kept = corpus.inputs().size();
  Random random(options.seed * 0x9E3779B97F4A7C15u + hash(target.name));
  while (options.runs > 0 ? runs < options.runs : seconds() < options.seconds) {
    const std::string input = changed(target, corpus, random);
    if (run(input)) corpus.add(input);
  }
  fmt::print(
      "{}: {} executions in {:.1f} s ({:.1f} s of processor time), {} accepted, slowest {:.2f} s, {} MB at "
      "most, {} inputs "
      "kept besides {}, {} places reached\n",
      target.name, runs, seconds(), seconds_used(), accepted, slowest, most_megabytes(),
      corpus.inputs().size() - kept, kept, places_reached() - before);
  std::fflush(stdout);
}

[[noreturn]] void wrong_usage(const std::string& why) {
  fmt::print(stderr, "fuzz_targets: {}\n", why);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) wrong_usage(fmt::format("{} needs a value", arg));
      return argv[i];
    };
    if (arg == "--only")
      o.only = value();
    else if (arg == "--corpus")
      o.corpus = value();
    else if (arg == "--faults")
      o.faults = value();
    else if (arg == "--seed")
      o.seed = std::stoull(value());
    else if (arg == "--runs")
      o.runs = std::stoull(value());
    else if (arg == "--seconds")
      o.seconds = std::stod(value());
    else if (arg == "--list")
      o.list = true;
    else if (arg.starts_with('-'))
      wrong_usage(fmt::format("{} is not an option", arg));
    else
      o.files.emplace_back(arg);
  }
  if (o.runs == 0 && o.seconds == 0) o.runs = 1000;
  return o;
}

int run_all(const Options& options) {
  bool found = false;
  for (const Target* target : kTargets) {
    if (!options.only.empty() && options.only != target->name) continue;
    found = true;
    if (options.list) {
      fmt::print("{}\n", target->name);
    } else if (!options.files.empty()) {
      for (const std::string& file : options.files) {
        const std::string refusal = feed(*target, read_whole(file));
        fmt::print("{}: {}\n", file, refusal.empty() ? "accepted" : refusal);
      }
    } else {
      fuzz(*target, options);
    }
  }
  if (!found) wrong_usage(fmt::format("there is no target '{}'; --list shows them", options.only));
  return 0;
}

/// A file in memory.
struct InputFile {
  int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  std::string path = fmt::format("/proc/self/fd/{}", fd);
};

}  // namespace

const std::string& input_file(std::string_view bytes) {
  static InputFile file;
  const bool written = ::ftruncate(file.fd, 0) == 0 &&
                       ::pwrite(file.fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (!written) wrong_usage("there is no memory for the input");
  return file.path;
}

}  // namespace assay::fuzz

int main(int argc, char** argv) {
  using namespace assay;
  const fuzz::Options options = fuzz::parse(argc, argv);
  std::filesystem::create_directories(options.faults);
  set_memory_limit(fuzz::kMemory);
  // Blocks of some hundred kilobytes come and go with every input: pages are not requested from the system
  // for each.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const log::Capture quiet({.threshold = log::Severity::kCritical});
  fuzz::watch();
  return fuzz::run_all(options);
}
