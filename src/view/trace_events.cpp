#include "view/trace_events.h"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

uint32_t place_of(trace::Thread& thread, const std::string& text) {
  const auto it = std::find(thread.texts.begin(), thread.texts.end(), text);
  if (it != thread.texts.end()) return static_cast<uint32_t>(it - thread.texts.begin());
  thread.texts.push_back(text);
  return static_cast<uint32_t>(thread.texts.size() - 1);
}

trace::Process& process_of(std::vector<trace::Process>& processes, const trace::Child& child) {
  const auto it = std::find_if(processes.begin(), processes.end(),
                               [&](const trace::Process& p) { return p.id == child.id; });
  if (it != processes.end()) return *it;
  return processes.emplace_back(trace::Process{.id = child.id, .name = child.name});
}

trace::Thread& main_thread(trace::Process& process) {
  const auto it = std::find_if(process.threads.begin(), process.threads.end(),
                               [&](const trace::Thread& t) { return t.id == process.id; });
  if (it != process.threads.end()) return *it;
  return process.threads.emplace_back(trace::Thread{.id = process.id, .name = "main"});
}

/// The latest event of a process, for a child whose end its parent has not seen.
int64_t last_event(const trace::Process& process) {
  int64_t last = 0;
  for (const trace::Thread& t : process.threads)
    for (const trace::Event& e : t.events) last = std::max(last, e.end);
  return last;
}

}  // namespace

int64_t trace_begin(std::span<const trace::Process> processes) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const trace::Process& p : processes) {
    for (const trace::Thread& t : p.threads)
      for (const trace::Event& e : t.events) first = std::min(first, e.start);
    for (const trace::MemorySample& m : p.memory) first = std::min(first, m.time);
  }
  return first == std::numeric_limits<int64_t>::max() ? 0 : first;
}

std::vector<trace::Event> nested_events(const trace::Thread& thread) {
  std::vector<trace::Event> events = thread.events;
  // Of two with the same times the one that ended later encloses the other.
  std::reverse(events.begin(), events.end());
  std::stable_sort(events.begin(), events.end(), [](const trace::Event& a, const trace::Event& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  return events;
}

std::vector<trace::Process> with_lives(std::span<const trace::Process> processes) {
  std::vector<trace::Process> all(processes.begin(), processes.end());
  for (const trace::Process& parent : processes)
    for (const trace::Child& child : parent.children) {
      trace::Process& process = process_of(all, child);
      trace::Thread& thread = main_thread(process);
      const int64_t end = child.end != 0 ? child.end : std::max(child.start, last_event(process));
      thread.events.push_back({.start = child.start,
                               .end = end,
                               .name = place_of(thread, child.name),
                               .detail = place_of(thread, child.outcome),
                               .kind = trace::Kind::kProcess});
    }
  return all;
}

}  // namespace assay
