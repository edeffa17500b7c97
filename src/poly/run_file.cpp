// Settings files: {"version": 1, "settings": {"data.seed": 7, ...}}, members that differ from the defaults,
// in the order of the table.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "base/similar_name.h"
#include "poly/run_json.h"

namespace assay::poly {
namespace {

constexpr int64_t kSettingsVersion = 1;
constexpr const char* kOrigin = "A run whose settings are saved writes one.";

const RunRow* member_named(std::string_view name) {
  for (const RunRow* row : run_members())
    if (row->member == name) return row;
  return nullptr;
}

std::vector<std::string_view> member_names() {
  std::vector<std::string_view> names;
  for (const RunRow* row : run_members()) names.push_back(row->member);
  return names;
}

[[noreturn]] void refuse(JsonReader& reader, const std::string& message, const std::string& remedy) {
  try {
    reader.error(message);
  } catch (Error& e) {
    e.set_remedy(remedy);
    throw;
  }
}

/// Throws Error unless the document is of this version. Reads all of it.
void require_version(std::string_view text, const std::string& path) {
  JsonReader reader(text, path);
  if (reader.next() != JsonEvent::kBeginObject)
    refuse(reader, "this is no settings file: it is no object", kOrigin);
  bool has_version = false;
  while (reader.next_key()) {
    if (reader.string() != "version") {
      reader.skip_value();
      continue;
    }
    has_version = true;
    if (reader.next() != JsonEvent::kNumber || reader.number_text() != std::to_string(kSettingsVersion))
      refuse(reader,
             fmt::format("the settings are of another version than {}, which this build reads",
                         kSettingsVersion),
             "Save them again with this build.");
  }
  reader.expect(JsonEvent::kEnd, "the settings");
  if (!has_version) refuse(reader, "this is no settings file: it has no version", kOrigin);
}

void read_members(JsonReader& reader, RunSettings& settings) {
  std::set<std::string> seen;
  if (const JsonEvent got = reader.next(); got != JsonEvent::kBeginObject)
    refuse(reader, fmt::format("'settings' takes an object, not {}", json_event_name(got)), kOrigin);
  while (reader.next_key()) {
    const std::string name(reader.string());
    const RunRow* row = member_named(name);
    if (row == nullptr)
      refuse(reader, fmt::format("a run has no setting '{}'", name), name_hint(name, member_names()));
    if (!seen.insert(name).second)
      refuse(reader, fmt::format("'{}' is set twice", name), "Leave one of the two out.");
    read_member(reader, name, row->at(settings));
  }
}

/// Two members that exclude each other and are both set.
struct Contradiction {
  const char *first, *second;
  bool (*holds)(const RunSettings& s);
};
constexpr Contradiction kContradictions[] = {
    {"engine.save_tactics", "engine.load_tactics",
     [](const RunSettings& s) { return !s.engine.save_tactics.empty() && !s.engine.load_tactics.empty(); }},
    {"model.mark_all", "model.outputs",
     [](const RunSettings& s) { return s.model.mark_all && s.model.outputs.has_value(); }},
    {"engine.mark_all", "engine.outputs",
     [](const RunSettings& s) { return s.engine.mark_all && s.engine.outputs.has_value(); }},
    {"data.script", "data.load_inputs",
     [](const RunSettings& s) { return !s.data.script.empty() && !s.data.load_inputs.empty(); }},
    {"postprocess", "extensions.postprocess",
     [](const RunSettings& s) { return s.postprocess.has_value() && !s.extensions.postprocess.empty(); }},
    {"check_average", "fail_fast", [](const RunSettings& s) { return s.check_average && s.fail_fast; }},
};

void require_sense(const RunSettings& s, const std::string& path) {
  const auto require_one = [&](bool is_one, const std::string& what) {
    if (!is_one)
      throw Error(ErrorCode::kInvalidArgument, what)
          .add_context("in " + path)
          .set_remedy("Leave one of the two out.");
  };
  for (const Contradiction& c : kContradictions)
    require_one(!c.holds(s), fmt::format("'{}' and '{}' contradict each other", c.first, c.second));
  for (const RunRunner& r : s.runners)
    require_one(r.backend.empty() != r.script.empty(),
                "each of 'runners' has a backend or a script: one of the two");
}

}  // namespace

std::string run_settings_text(const RunSettings& settings) {
  const std::string unsaveable = first_unsaveable(settings);
  if (!unsaveable.empty())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}' cannot be saved in a settings file: only a program has it", unsaveable))
        .set_remedy("Leave it out, and let the program that loads the file set it.");
  std::vector<const RunRow*> given;
  RunSettings all = settings;
  for (const RunRow* row : run_members())
    with_context([&] { return fmt::format("at '{}'", row->member); },
                 [&] {
                   if (differs_from_default(*row, settings)) given.push_back(row);
                 });
  std::string text;
  JsonWriter writer([&](std::string_view part) { text += part; });
  writer.begin_object().key("version").value(kSettingsVersion).key("settings").begin_object();
  for (const RunRow* row : given) {
    writer.key(row->member);
    write_member(writer, row->at(all));
  }
  writer.end_object().end_object();
  return text + "\n";
}

RunSettings parse_run_settings(std::string_view text, const std::string& name) {
  require_version(text, name);
  JsonReader reader(text, name);
  RunSettings settings;
  reader.next();
  bool has_settings = false;
  while (reader.next_key()) {
    const std::string key(reader.string());
    if (key == "settings" && !has_settings) {
      has_settings = true;
      read_members(reader, settings);
    } else if (key == "version") {
      reader.skip_value();
    } else {
      refuse(reader,
             fmt::format("a settings file has no '{}' in addition to 'version' and one 'settings'", key),
             "Settings belong into 'settings'.");
    }
  }
  require_sense(settings, name);
  return settings;
}

void save_run_settings(const RunSettings& settings, const std::string& path) {
  const std::string text = run_settings_text(settings);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

RunSettings load_run_settings(const std::string& path) {
  return parse_run_settings(MappedFile::open(path)->bytes(), path);
}

}  // namespace assay::poly
