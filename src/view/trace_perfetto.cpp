// Perfetto's binary form: a Trace message, whose fields are packets. Field numbers are those of Perfetto's
// trace/trace_packet.proto and the files that it includes.
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <string>

#include "base/visible_text.h"
#include "view/trace_events.h"
#include "view/trace_file.h"

namespace assay {
namespace {

using protozero::pbf_writer;

enum TraceField : uint32_t { kPacket = 1 };
enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60
};
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;  // SequenceFlags
namespace track {
enum Field : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8 };
enum ProcessField : uint32_t { kPid = 1, kProcessName = 6 };
enum ThreadField : uint32_t { kThreadPid = 1, kTid = 2, kThreadName = 5 };
enum CounterField : uint32_t { kUnit = 3 };
constexpr int32_t kBytes = 3;  // UNIT_SIZE_BYTES
}  // namespace track
namespace event {
enum Field : uint32_t {
  kCategoryId = 3,
  kAnnotation = 4,
  kType = 9,
  kNameId = 10,
  kTrack = 11,
  kCounterValue = 30
};
constexpr int32_t kBegin = 1, kEnd = 2, kCounter = 4;
enum AnnotationField : uint32_t { kAnnotationNameId = 1, kTextId = 17 };
}  // namespace event
namespace interned {
enum Field : uint32_t { kCategories = 1, kNames = 2, kAnnotationNames = 3, kTexts = 29 };
enum EntryField : uint32_t { kId = 1, kText = 2 };
}  // namespace interned

class PerfettoTrace {
 public:
  PerfettoTrace(const PageSink& sink, int64_t begin) : sink_(sink), begin_(begin) {}

  void process(const trace::Process& p) {
    const uint64_t uuid = ++tracks_;
    describe(uuid, [&](pbf_writer& descriptor) {
      pbf_writer named(descriptor, track::kProcess);
      named.add_int32(track::kPid, static_cast<int32_t>(p.id));
      named.add_string(track::kProcessName, visible_text(p.name, Lines::kOne));
    });
    for (const trace::Thread& t : p.threads) thread(p, t);
    counter(p.memory, uuid, "memory: own", [](const trace::MemorySample& m) { return m.own; });
    counter(p.memory, uuid, "memory: mapped", [](const trace::MemorySample& m) { return m.mapped; });
  }

 private:
  /// Every sequence has names of its own; a thread is one.
  template <typename Fill>
  void packet(Fill fill) {
    buffer_.clear();
    {
      pbf_writer trace(buffer_);
      pbf_writer one(trace, kPacket);
      one.add_uint32(kSequence, sequence_);
      fill(one);
    }
    sink_(buffer_);
  }

  template <typename Fill>
  void describe(uint64_t uuid, Fill fill) {
    packet([&](pbf_writer& one) {
      pbf_writer descriptor(one, kTrackDescriptor);
      descriptor.add_uint64(track::kUuid, uuid);
      fill(descriptor);
    });
  }

  void thread(const trace::Process& p, const trace::Thread& t) {
    const uint64_t uuid = ++tracks_;
    ++sequence_;
    intern(t);
    describe(uuid, [&](pbf_writer& descriptor) {
      pbf_writer named(descriptor, track::kThread);
      named.add_int32(track::kThreadPid, static_cast<int32_t>(p.id));
      named.add_int32(track::kTid, static_cast<int32_t>(t.id));
      named.add_string(track::kThreadName, visible_text(t.name, Lines::kOne));
    });
    std::vector<int64_t> open;  // ends
    for (const trace::Event& e : nested_events(t)) {
      while (!open.empty() && open.back() <= e.start) end(uuid, open);
      begin(uuid, e);
      open.push_back(open.empty() ? e.end : std::min(e.end, open.back()));
    }
    while (!open.empty()) end(uuid, open);
  }

  void intern(const trace::Thread& t) {
    packet([&](pbf_writer& one) {
      one.add_uint32(kSequenceFlags, kStateCleared);
      pbf_writer data(one, kInternedData);
      const auto add = [&](interned::Field field, size_t place, std::string_view text) {
        pbf_writer entry(data, field);
        entry.add_uint64(interned::kId, place + 1);
        entry.add_bytes(interned::kText, text.data(), text.size());
      };
      for (int k = 0; k < trace::kKinds; ++k) {
        const auto kind = static_cast<trace::Kind>(k);
        add(interned::kCategories, static_cast<size_t>(k), trace::kind_name(kind));
        add(interned::kAnnotationNames, static_cast<size_t>(k), trace::detail_name(kind));
      }
      for (size_t i = 0; i < t.texts.size(); ++i) {
        // The fields of the message are UTF-8, which names in models need not be.
        const std::string text = visible_text(t.texts[i], Lines::kOne);
        add(interned::kNames, i, text);
        add(interned::kTexts, i, text);
      }
    });
  }

  template <typename Fill>
  void at(int64_t time, Fill fill) {
    packet([&](pbf_writer& one) {
      one.add_uint64(kTimestamp, static_cast<uint64_t>(time - begin_));
      one.add_uint32(kSequenceFlags, kNeedsState);
      pbf_writer what(one, kTrackEvent);
      fill(what);
    });
  }

  void begin(uint64_t uuid, const trace::Event& e) {
    at(e.start, [&](pbf_writer& what) {
      const auto kind = static_cast<uint64_t>(e.kind) + 1;
      what.add_enum(event::kType, event::kBegin);
      what.add_uint64(event::kTrack, uuid);
      what.add_uint64(event::kCategoryId, kind);
      what.add_uint64(event::kNameId, uint64_t{e.name} + 1);
      if (e.detail == 0) return;
      pbf_writer annotation(what, event::kAnnotation);
      annotation.add_uint64(event::kAnnotationNameId, kind);
      annotation.add_uint64(event::kTextId, uint64_t{e.detail} + 1);
    });
  }

  void end(uint64_t uuid, std::vector<int64_t>& open) {
    at(open.back(), [&](pbf_writer& what) {
      what.add_enum(event::kType, event::kEnd);
      what.add_uint64(event::kTrack, uuid);
    });
    open.pop_back();
  }

  template <typename Value>
  void counter(std::span<const trace::MemorySample> samples, uint64_t process, const char* name,
               Value value) {
    if (samples.empty()) return;
    const uint64_t uuid = ++tracks_;
    describe(uuid, [&](pbf_writer& descriptor) {
      descriptor.add_string(track::kName, name);
      descriptor.add_uint64(track::kParent, process);
      pbf_writer unit(descriptor, track::kCounter);
      unit.add_enum(track::kUnit, track::kBytes);
    });
    for (const trace::MemorySample& m : samples)
      at(m.time, [&](pbf_writer& what) {
        what.add_enum(event::kType, event::kCounter);
        what.add_uint64(event::kTrack, uuid);
        what.add_int64(event::kCounterValue, value(m));
      });
  }

  const PageSink& sink_;
  int64_t begin_;
  uint64_t tracks_ = 0;
  uint32_t sequence_ = 1;
  std::string buffer_;
};

}  // namespace

void write_trace_perfetto(std::span<const trace::Process> processes, const PageSink& sink) {
  const std::vector<trace::Process> all = with_lives(processes);
  PerfettoTrace perfetto(sink, trace_begin(all));
  for (const trace::Process& p : all) perfetto.process(p);
}

}  // namespace assay
