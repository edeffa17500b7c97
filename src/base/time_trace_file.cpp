#include "base/time_trace_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/byte_reader.h"

namespace assay::trace {
namespace {

constexpr uint32_t kMagic = 0x31545341;  // "AST1"

class PartWriter {
 public:
  void number(int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void string(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    text_ += value;
  }
  template <typename List, typename Each>
  void list(const List& all, Each each) {
    number(static_cast<int64_t>(all.size()));
    for (const auto& one : all) each(one);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class PartReader {
 public:
  explicit PartReader(std::span<const uint8_t> bytes) : reader_(bytes) {}
  int64_t number() {
    const uint64_t low = reader_.little(4), high = reader_.little(4);
    return static_cast<int64_t>(high << 32 | low);
  }
  std::string string() {
    const std::span<const uint8_t> bytes = reader_.take(static_cast<size_t>(number()));
    return {bytes.begin(), bytes.end()};
  }
  template <typename List, typename Each>
  void list(List& all, Each each) {
    for (int64_t left = number(); left > 0 && reader_.ok(); --left) {
      all.emplace_back();
      each(all.back());
    }
  }
  bool is_complete() const { return reader_.ok() && reader_.left() == 0; }

 private:
  ByteReader reader_;
};

bool is_sound(const Thread& t) {
  for (const Event& e : t.events)
    if (e.name >= t.texts.size() || e.detail >= t.texts.size() || static_cast<int>(e.kind) >= kKinds)
      return false;
  return true;
}

}  // namespace

void write_part(const std::string& path, const Process& process) {
  PartWriter out;
  out.number(kMagic);
  out.number(process.id);
  out.string(process.name);
  out.number(process.left_out);
  out.list(process.threads, [&](const Thread& t) {
    out.number(t.id);
    out.string(t.name);
    out.list(t.texts, [&](const std::string& s) { out.string(s); });
    out.list(t.events, [&](const Event& e) {
      for (const int64_t v :
           {e.start, e.end, int64_t{e.name}, int64_t{e.detail}, static_cast<int64_t>(e.kind)})
        out.number(v);
    });
  });
  out.list(process.memory, [&](const MemorySample& m) {
    for (const int64_t v : {m.time, m.own, m.mapped}) out.number(v);
  });
  out.list(process.children, [&](const Child& c) {
    for (const int64_t v : {c.id, c.start, c.end}) out.number(v);
    out.string(c.name);
    out.string(c.outcome);
  });
  const std::string unfinished = path + ".unfinished";
  std::error_code ignored;
  {
    std::ofstream file(unfinished, std::ios::binary);
    file << out.text();
    if (!file.flush()) {
      std::filesystem::remove(unfinished, ignored);
      return;
    }
  }
  std::filesystem::rename(unfinished, path, ignored);
}

std::optional<Process> read_part(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  PartReader in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (in.number() != kMagic) return std::nullopt;
  Process process;
  process.id = in.number();
  process.name = in.string();
  process.left_out = in.number();
  bool sound = true;
  in.list(process.threads, [&](Thread& t) {
    t.texts.clear();
    t.id = in.number();
    t.name = in.string();
    in.list(t.texts, [&](std::string& s) { s = in.string(); });
    in.list(t.events, [&](Event& e) {
      e.start = in.number(), e.end = in.number();
      e.name = static_cast<uint32_t>(in.number()), e.detail = static_cast<uint32_t>(in.number());
      e.kind = static_cast<Kind>(in.number());
    });
    sound = sound && is_sound(t);
  });
  in.list(process.memory,
          [&](MemorySample& m) { m.time = in.number(), m.own = in.number(), m.mapped = in.number(); });
  in.list(process.children, [&](Child& c) {
    c.id = in.number(), c.start = in.number(), c.end = in.number();
    c.name = in.string();
    c.outcome = in.string();
  });
  if (!in.is_complete() || !sound) return std::nullopt;
  return process;
}

}  // namespace assay::trace
