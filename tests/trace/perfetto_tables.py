"""Timelines as the tables that Perfetto's trace processor makes of them, so that the same SQL can be asked of both.

ASSAY_TRACE_PROCESSOR names a trace_processor_shell, which then reads the files itself; it is a program of its own, which no package
brings. Without it Chrome's JSON is read here, and Perfetto's binary by the descriptors of PyPI's package `perfetto`.
"""

import json
import os
import sqlite3

SHELL = os.environ.get("ASSAY_TRACE_PROCESSOR", "")
TABLES = """
create table process (upid integer primary key, pid int, name text);
create table thread (utid integer primary key, tid int, name text, upid int);
create table thread_track (id integer primary key, utid int);
create table process_counter_track (id integer primary key, name text, upid int);
create table slice (id integer primary key, ts int, dur int, track_id int, category text, name text, parent_id int, detail text);
create table counter (id integer primary key, ts int, track_id int, value real);
"""


class Tables:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.executescript(TABLES)
        self.tracks = {}

    def query(self, sql):
        return self.db.execute(sql).fetchall()

    def add(self, table, **columns):
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        return self.db.execute(f"insert into {table} ({names}) values ({marks})", list(columns.values())).lastrowid

    def process(self, pid, name):
        self.db.execute("delete from process where pid = ?", (pid,))
        return self.add("process", pid=pid, name=name)

    def upid(self, pid):
        found = self.query(f"select upid from process where pid = {int(pid)}")
        return found[0][0] if found else self.process(pid, "")

    def thread(self, pid, tid, name):
        utid = self.add("thread", tid=tid, name=name, upid=self.upid(pid))
        return self.add("thread_track", utid=utid)

    def slices(self, track, events):
        """Events of (start, end, category, name, detail); those that enclose others first."""
        stack = []
        for start, end, category, name, detail in events:
            while stack and stack[-1][1] <= start:
                stack.pop()
            if stack and end > stack[-1][1]:
                raise ValueError(f"'{name}' ends behind what encloses it")
            parent = stack[-1][0] if stack else None
            stack.append((self.add("slice", ts=start, dur=end - start, track_id=track, category=category, name=name, parent_id=parent, detail=detail), end))


def from_json(path):
    tables, tracks, events = Tables(), {}, {}
    document = json.loads(path.read_text())
    nanoseconds = lambda microseconds: round(microseconds * 1000)  # noqa: E731
    for e in document["traceEvents"]:
        key = (e["pid"], e["tid"])
        if e["ph"] == "M" and e["name"] == "process_name":
            tables.process(e["pid"], e["args"]["name"])
        elif e["ph"] == "M":
            tracks[key] = tables.thread(*key, e["args"]["name"])
        elif e["ph"] == "X":
            start = nanoseconds(e["ts"])
            detail = " ".join(e.get("args", {}).values())
            events.setdefault(key, []).append((start, start + nanoseconds(e["dur"]), e["cat"], e["name"], detail))
        elif e["ph"] == "C":
            for name, value in e["args"].items():
                track = tables.tracks.setdefault((e["pid"], name), None) or tables.add("process_counter_track", name=name, upid=tables.upid(e["pid"]))
                tables.tracks[e["pid"], name] = track
                tables.add("counter", ts=nanoseconds(e["ts"]), track_id=track, value=value)
    for key, list_of in events.items():
        tables.slices(tracks[key], list_of)
    return tables


class Sequence:
    def __init__(self):
        self.names, self.categories, self.texts = {}, {}, {}

    def intern(self, data):
        for to, entries in ((self.names, data.event_names), (self.categories, data.event_categories)):
            to.update({e.iid: e.name for e in entries})
        self.texts.update({e.iid: e.str.decode() for e in data.debug_annotation_string_values})


def from_perfetto(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    begin, end, counter = proto.TrackEvent.TYPE_SLICE_BEGIN, proto.TrackEvent.TYPE_SLICE_END, proto.TrackEvent.TYPE_COUNTER
    tables, sequences, tracks, processes, opened, closed = Tables(), {}, {}, {}, {}, {}
    for packet in trace.packet:
        sequence = sequences.setdefault(packet.trusted_packet_sequence_id, Sequence())
        if packet.sequence_flags & proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence = sequences[packet.trusted_packet_sequence_id] = Sequence()
        sequence.intern(packet.interned_data)
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            if d.HasField("process"):
                processes[d.uuid] = tables.process(d.process.pid, d.process.process_name)
            elif d.HasField("thread"):
                tracks[d.uuid] = tables.thread(d.thread.pid, d.thread.tid, d.thread.thread_name)
            else:
                assert d.counter.unit == proto.CounterDescriptor.UNIT_SIZE_BYTES
                tracks[d.uuid] = tables.add("process_counter_track", name=d.name, upid=processes[d.parent_uuid])
        if not packet.HasField("track_event"):
            continue
        e = packet.track_event
        if e.type == counter:
            tables.add("counter", ts=packet.timestamp, track_id=tracks[e.track_uuid], value=e.counter_value)
        elif e.type == begin:
            texts = [sequence.texts[a.string_value_iid] for a in e.debug_annotations]
            opened.setdefault(e.track_uuid, []).append([packet.timestamp, None, sequence.categories[e.category_iids[0]], sequence.names[e.name_iid], " ".join(texts)])
            closed.setdefault(e.track_uuid, []).append(opened[e.track_uuid][-1])
        elif e.type == end:
            opened[e.track_uuid].pop()[1] = packet.timestamp
    assert not any(opened.values()), "a slice has no end"
    for uuid, events in closed.items():
        tables.slices(tracks[uuid], events)
    return tables


class Processor:
    """Perfetto's own."""

    def __init__(self, path):
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
        self.processor = TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=SHELL))

    def query(self, sql):
        return [tuple(row.__dict__.values()) for row in self.processor.query(sql)]


def tables_of(path):
    if SHELL:
        return Processor(path)
    return from_perfetto(path) if path.suffix == ".pftrace" else from_json(path)
