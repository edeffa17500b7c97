// Timelines as files that others show: Chrome's trace events in JSON, and Perfetto's own form.
#pragma once

#include <span>

#include "base/time_trace_record.h"
#include "view/page.h"
#include "view/report.h"

namespace assay {

/// An object with "traceEvents". Times are in microseconds since the first event; the category of an event is
/// its kind, its argument the detail. Memory is the counter "memory", in bytes.
void write_trace_json(std::span<const trace::Process> processes, const PageSink& sink);

/// Packets of Perfetto's Trace message, with the same events, tracks and counters.
void write_trace_perfetto(std::span<const trace::Process> processes, const PageSink& sink);

/// The same for a page: a line for each thread of each process.
ReportTimeline trace_timeline(std::span<const trace::Process> processes);

}  // namespace assay
