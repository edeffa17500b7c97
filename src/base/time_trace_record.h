// The record of what processes did in time: plain data, as base/time_trace.h notes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::trace {

enum class Kind : uint8_t {
  kCommand,
  kModel,    ///< a file is read or written
  kBuild,    ///< a phase of a build
  kPass,     ///< detail: its edits
  kTactic,   ///< one timed run of a candidate; detail: what it is for
  kRun,      ///< a model runs; detail: on what
  kProfile,  ///< runs whose steps are timed for a profile
  kStep,     ///< a step of an engine, by the names of its ONNX nodes; detail: the tactic
  kNode,     ///< a node in the reference
  kCompare,
  kCheck,    ///< of a candidate in a search
  kLoop,     ///< a thread of a pool takes part in a loop
  kWait,     ///< for other threads or processes
  kProcess,  ///< the life of a child process, as its parent sees it
};
inline constexpr int kKinds = static_cast<int>(Kind::kProcess) + 1;
/// The category in a file: "step".
std::string_view kind_name(Kind kind);
/// The name of a span's detail: "tactic"; empty where there are none.
std::string_view detail_name(Kind kind);

struct Event {
  int64_t start = 0, end = 0;     ///< nanoseconds of the steady clock
  uint32_t name = 0, detail = 0;  ///< places in Thread::texts; the first text is empty
  Kind kind = Kind::kCommand;
};

struct Thread {
  int64_t id = 0;
  std::string name;
  std::vector<std::string> texts = {""};
  std::vector<Event> events;  ///< in the order in which they ended
};

/// Resident bytes of the process.
struct MemorySample {
  int64_t time = 0, own = 0, mapped = 0;  ///< `mapped`: pages of files, which the system can drop
};

struct Child {
  int64_t id = 0, start = 0, end = 0;
  std::string name, outcome;
};

struct Process {
  int64_t id = 0;
  std::string name;
  std::vector<Thread> threads;
  std::vector<MemorySample> memory;
  std::vector<Child> children;
  int64_t left_out = 0;  ///< spans beyond kMostEvents
};

}  // namespace assay::trace
