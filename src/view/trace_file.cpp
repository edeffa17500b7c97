#include "view/trace_file.h"

#include "view/trace_events.h"

namespace assay {
namespace {

constexpr double kMicroseconds = 1e-3;  // per nanosecond

class ChromeTrace {
 public:
  ChromeTrace(JsonWriter& json, int64_t begin) : json_(json), begin_(begin) {}

  void process(const trace::Process& p) {
    name("process_name", p.id, p.id, p.name);
    for (const trace::Thread& t : p.threads) {
      name("thread_name", p.id, t.id, t.name);
      for (const trace::Event& e : nested_events(t)) span(p, t, e);
    }
    for (const trace::MemorySample& m : p.memory) memory(p, m);
    if (p.left_out > 0) left_out(p);
  }

 private:
  JsonWriter& event(std::string_view name, const char* phase, int64_t process, int64_t thread) {
    json_.begin_object().key("name").value(name).key("ph").value(phase);
    return json_.key("pid").value(process).key("tid").value(thread);
  }
  void name(const char* what, int64_t process, int64_t thread, const std::string& name) {
    event(what, "M", process, thread).key("args").begin_object().key("name").value(name).end_object();
    json_.end_object();
  }
  void span(const trace::Process& p, const trace::Thread& t, const trace::Event& e) {
    event(t.texts[e.name], "X", p.id, t.id).key("cat").value(trace::kind_name(e.kind));
    json_.key("ts").value(kMicroseconds * static_cast<double>(e.start - begin_));
    json_.key("dur").value(kMicroseconds * static_cast<double>(e.end - e.start));
    if (e.detail != 0) {
      json_.key("args").begin_object().key(trace::detail_name(e.kind)).value(t.texts[e.detail]);
      json_.end_object();
    }
    json_.end_object();
  }
  void memory(const trace::Process& p, const trace::MemorySample& m) {
    event("memory", "C", p.id, p.id).key("ts").value(kMicroseconds * static_cast<double>(m.time - begin_));
    json_.key("args").begin_object().key("own").value(m.own).key("mapped").value(m.mapped).end_object();
    json_.end_object();
  }
  void left_out(const trace::Process& p) {
    event("spans left out", "i", p.id, p.id).key("ts").value(0.0).key("s").value("p");
    json_.key("args").begin_object().key("count").value(p.left_out).end_object().end_object();
  }

  JsonWriter& json_;
  int64_t begin_;
};

}  // namespace

void write_trace_json(std::span<const trace::Process> processes, const PageSink& sink) {
  const std::vector<trace::Process> all = with_lives(processes);
  JsonWriter json(sink, JsonStyle::kScript);
  json.begin_object().key("displayTimeUnit").value("ms").key("traceEvents").begin_array();
  ChromeTrace chrome(json, trace_begin(all));
  for (const trace::Process& p : all) chrome.process(p);
  json.end_array().end_object();
}

ReportTimeline trace_timeline(std::span<const trace::Process> processes) {
  const std::vector<trace::Process> all = with_lives(processes);
  const int64_t begin = trace_begin(all);
  ReportTimeline timeline{.title = "Timeline"};
  for (const trace::Process& p : all)
    for (const trace::Thread& t : p.threads) {
      if (t.events.empty()) continue;
      const size_t line = timeline.threads.size();
      timeline.threads.push_back(all.size() > 1 ? p.name + ": " + t.name : t.name);
      for (const trace::Event& e : nested_events(t))
        timeline.events.push_back({line, kMicroseconds * static_cast<double>(e.start - begin),
                                   kMicroseconds * static_cast<double>(e.end - e.start), t.texts[e.name]});
    }
  return timeline;
}

}  // namespace assay
