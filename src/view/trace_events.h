// What forms of timelines have in common: the order of events, and the first moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time_trace_record.h"

namespace assay {

/// The moment at which the earliest event begins; 0 without one.
int64_t trace_begin(std::span<const trace::Process> processes);

/// The events of a thread by their beginning, those that enclose others before them.
std::vector<trace::Event> nested_events(const trace::Thread& thread);

/// Threads of a process, and with them the process itself as its parent saw it, where it is a child: an event
/// of its main thread, around all others.
std::vector<trace::Process> with_lives(std::span<const trace::Process> processes);

}  // namespace assay
