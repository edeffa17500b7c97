#include "poly/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "assay/error.h"
#include "base/similar_name.h"
#include "poly/compare_description.h"

namespace assay::poly {
namespace {

constexpr const char* kRemedy = "Correct the entry, or leave it out: then it has its default.";

/// A document, and the current member.
struct Entry {
  JsonReader& reader;
  std::string_view member;

  [[noreturn]] void error(const std::string& message) const {
    try {
      reader.error(fmt::format("'{}' {}", member, message));
    } catch (Error& e) {
      e.set_remedy(kRemedy);
      throw;
    }
  }
  [[noreturn]] void wrong(std::string_view expected, JsonEvent got) const {
    error(fmt::format("takes {}, not {}", expected, json_event_name(got)));
  }
  void expect(JsonEvent event, std::string_view expected) const {
    if (const JsonEvent got = reader.next(); got != event) wrong(expected, got);
  }
};

// ---- plain values

void write(JsonWriter& w, bool v) { w.value(v); }
void write(JsonWriter& w, int v) { w.value(v); }
void write(JsonWriter& w, int64_t v) { w.value(v); }
void write(JsonWriter& w, size_t v) { w.value(static_cast<uint64_t>(v)); }
void write(JsonWriter& w, double v) { w.value(v); }
void write(JsonWriter& w, const std::string& v) { w.value(v); }

void read(const Entry& e, bool& v) {
  const JsonEvent got = e.reader.next();
  if (got != JsonEvent::kTrue && got != JsonEvent::kFalse) e.wrong("true or false", got);
  v = got == JsonEvent::kTrue;
}

void read(const Entry& e, int64_t& v) {
  e.expect(JsonEvent::kNumber, "a whole number");
  try {
    v = e.reader.as_int64();
  } catch (const Error&) {
    e.error(fmt::format("takes a whole number, not {}", e.reader.number_text()));
  }
}

void read(const Entry& e, int& v) {
  int64_t wide = 0;
  read(e, wide);
  v = static_cast<int>(wide);
  if (v != wide) e.error(fmt::format("takes a whole number of 32 bits, not {}", wide));
}

void read(const Entry& e, size_t& v) {
  int64_t wide = 0;
  read(e, wide);
  if (wide < 0) e.error(fmt::format("takes a whole number from 0 on, not {}", wide));
  v = static_cast<size_t>(wide);
}

void read(const Entry& e, double& v) {
  e.expect(JsonEvent::kNumber, "a number");
  v = e.reader.as_double();
}

void read(const Entry& e, std::string& v) {
  e.expect(JsonEvent::kString, "a string");
  v = std::string(e.reader.string());
}

void write(JsonWriter& w, const Number& v) {
  if (v.integer())
    w.value(*v.integer());
  else
    w.value(v.value());
}

void read(const Entry& e, Number& v) {
  e.expect(JsonEvent::kNumber, "a number");
  const bool is_whole = e.reader.number_text().find_first_of(".eENI") == std::string_view::npos;
  try {
    v = is_whole ? Number(e.reader.as_int64()) : Number(e.reader.as_double());
  } catch (const Error&) {
    v = Number(e.reader.as_double());
  }
}

/// Extents: a number, or the name of an open one; -1: open without a name.
void write(JsonWriter& w, const Dim& d) {
  if (d.is_symbol())
    w.value(d.symbol());
  else
    w.value(d.value());
}

void read(const Entry& e, Dim& d) {
  const JsonEvent got = e.reader.next();
  if (got == JsonEvent::kString)
    d = Dim::symbol(std::string(e.reader.string()));
  else if (got == JsonEvent::kNumber)
    d = e.reader.as_int64() < 0 ? Dim() : Dim(e.reader.as_int64());
  else
    e.wrong("extents, which are numbers or names", got);
}

// ---- names of values

template <typename T>
struct NamedValue {
  const char* name;
  T value;
};

std::span<const NamedValue<ReferencePrecision>> names_of(ReferencePrecision) {
  static constexpr NamedValue<ReferencePrecision> kNames[] = {{"float64", ReferencePrecision::kFloat64},
                                                              {"stored", ReferencePrecision::kStored}};
  return kNames;
}
std::span<const NamedValue<CalibrationAlgorithm>> names_of(CalibrationAlgorithm) {
  static constexpr NamedValue<CalibrationAlgorithm> kNames[] = {
      {"entropy2", CalibrationAlgorithm::kEntropy2},
      {"entropy", CalibrationAlgorithm::kEntropy},
      {"min_max", CalibrationAlgorithm::kMinMax},
      {"legacy", CalibrationAlgorithm::kLegacy},
      {"mean_squared_error", CalibrationAlgorithm::kMeanSquaredError}};
  return kNames;
}
std::span<const NamedValue<PrecisionConstraints>> names_of(PrecisionConstraints) {
  static constexpr NamedValue<PrecisionConstraints> kNames[] = {{"none", PrecisionConstraints::kNone},
                                                                {"prefer", PrecisionConstraints::kPrefer},
                                                                {"obey", PrecisionConstraints::kObey}};
  return kNames;
}

template <typename T>
concept Named = requires(T v) {
  names_of(v);
};

template <Named T>
void write(JsonWriter& w, T v) {
  for (const auto& n : names_of(v))
    if (n.value == v) return static_cast<void>(w.value(n.name));
  fail(ErrorCode::kInternal, "a value without a name");
}

template <Named T>
void read(const Entry& e, T& v) {
  std::string text, all;
  read(e, text);
  for (const auto& n : names_of(v)) {
    if (text == n.name) return static_cast<void>(v = n.value);
    all += (all.empty() ? "" : ", ") + std::string(n.name);
  }
  e.error(fmt::format("cannot be '{}'; it is one of {}", text, all));
}

void write(JsonWriter& w, DType v) { w.value(v == DType::kUndefined ? std::string_view() : dtype_name(v)); }

void read(const Entry& e, DType& v) {
  std::string text;
  read(e, text);
  const auto type = text.empty() ? DType::kUndefined : dtype_from_name(text);
  if (!type) e.error(fmt::format("cannot be '{}', which is no type of elements", text));
  v = *type;
}

// ---- structures: an object of what differs from the defaults

template <typename F>
void visit_fields(RunLog& v, F&& f) {
  f("verbosity", v.verbosity), f("timestamp", v.timestamp), f("line_info", v.line_info);
  f("colors", v.colors), f("file", v.file);
}
template <typename F>
void visit_fields(RunRunner& v, F&& f) {
  f("backend", v.backend), f("script", v.script), f("options", v.options), f("name", v.name);
}
template <typename F>
void visit_fields(RunRange& v, F&& f) {
  f("low", v.low), f("high", v.high);
}
template <typename F>
void visit_fields(RunProfile& v, F&& f) {
  f("min", v.min), f("opt", v.opt), f("max", v.max);
}
template <typename F>
void visit_fields(LayerTypes& v, F&& f) {
  f("layers", v.layers), f("precision", v.precision), f("outputs", v.outputs);
}
template <typename F>
void visit_fields(CompareDescription& v, F&& f) {
  f("function", v.function), f("script", v.script), f("atol", v.atol), f("rtol", v.rtol);
  f("check_error_stat", v.check_error_stat), f("error_quantile", v.error_quantile);
  f("index_tolerance", v.index_tolerance), f("threshold", v.threshold);
  f("check_shapes", v.check_shapes), f("infinities_compare_equal", v.infinities_compare_equal);
}
template <typename F>
void visit_fields(PostprocessDescription& v, F&& f) {
  f("script", v.script), f("top_k", v.top_k);
}

template <typename T>
concept Structure = requires(T v) {
  visit_fields(v, [](const char*, auto&) {});
};

template <Structure T>
void write(JsonWriter& w, T v);
template <Structure T>
void read(const Entry& e, T& v);

// ---- containers

template <typename T>
void write(JsonWriter& w, const std::optional<T>& v);
template <typename T>
void read(const Entry& e, std::optional<T>& v);
template <typename T>
void write(JsonWriter& w, const std::vector<T>& v);
template <typename T>
void read(const Entry& e, std::vector<T>& v);
template <typename T>
void write(JsonWriter& w, const std::vector<std::pair<std::string, T>>& v);
template <typename T>
void read(const Entry& e, std::vector<std::pair<std::string, T>>& v);

void write(JsonWriter& w, const std::pair<int64_t, int64_t>& v) {
  w.begin_array().value(v.first).value(v.second).end_array();
}
void read(const Entry& e, std::pair<int64_t, int64_t>& v) {
  e.expect(JsonEvent::kBeginArray, "an array of two whole numbers");
  read(e, v.first);
  read(e, v.second);
  e.expect(JsonEvent::kEndArray, "an array of two whole numbers");
}

/// One value for all outputs is written directly.
template <typename T>
void write(JsonWriter& w, const ByOutput<T>& v) {
  const auto& entries = v.entries();
  if (entries.size() == 1 && entries.front().first.empty()) return write(w, entries.front().second);
  write(w, entries);
}

template <typename T>
T start_value() {
  if constexpr (std::is_same_v<T, Number>)
    return Number(0);
  else
    return T();
}

template <typename T>
void read(const Entry& e, ByOutput<T>& v) {
  std::vector<std::pair<std::string, T>> entries;
  if (e.reader.peek() == JsonEvent::kBeginObject) {
    read(e, entries);
  } else {
    entries.emplace_back("", start_value<T>());
    read(e, entries.front().second);
  }
  v = ByOutput<T>::of(std::move(entries));
}

void write(JsonWriter& w, const CompareFunc& v) { write(w, describe(v)); }
void write(JsonWriter& w, const PostprocessFunc& v) { write(w, describe(v)); }

void read(const Entry& e, std::optional<PostprocessFunc>& v) {
  v.reset();
  if (e.reader.peek() == JsonEvent::kNull) return static_cast<void>(e.reader.next());
  PostprocessDescription description;
  read(e, description);
  v = with_context([&] { return fmt::format("at '{}' in {}", e.member, e.reader.name()); },
                   [&] { return make_function(description); });
}

void read(const Entry& e, std::vector<CompareFunc>& v) {
  std::vector<CompareDescription> descriptions;
  read(e, descriptions);
  v.clear();
  for (const CompareDescription& d : descriptions)
    v.push_back(with_context([&] { return fmt::format("at '{}' in {}", e.member, e.reader.name()); },
                             [&] { return make_function(d); }));
}

void write(JsonWriter& w, const std::map<std::string, std::string>& v) {
  w.begin_object();
  for (const auto& [name, value] : v) w.key(name).value(value);
  w.end_object();
}

void read(const Entry& e, std::map<std::string, std::string>& v) {
  v.clear();
  std::vector<std::pair<std::string, std::string>> entries;
  read(e, entries);
  v.insert(entries.begin(), entries.end());
}

template <typename T>
void write(JsonWriter& w, const std::optional<T>& v) {
  if (v)
    write(w, *v);
  else
    w.null();
}

template <typename T>
void read(const Entry& e, std::optional<T>& v) {
  v.reset();
  if (e.reader.peek() == JsonEvent::kNull) return static_cast<void>(e.reader.next());
  read(e, v.emplace(start_value<T>()));
}

template <typename T>
void write(JsonWriter& w, const std::vector<T>& v) {
  w.begin_array();
  for (const T& element : v) write(w, element);
  w.end_array();
}

template <typename T>
void read(const Entry& e, std::vector<T>& v) {
  v.clear();
  e.expect(JsonEvent::kBeginArray, "an array");
  while (e.reader.next_element()) read(e, v.emplace_back());
}

template <typename T>
void write(JsonWriter& w, const std::vector<std::pair<std::string, T>>& v) {
  w.begin_object();
  for (const auto& [name, value] : v) {
    w.key(name);
    write(w, value);
  }
  w.end_object();
}

template <typename T>
void read(const Entry& e, std::vector<std::pair<std::string, T>>& v) {
  v.clear();
  e.expect(JsonEvent::kBeginObject, "an object");
  while (e.reader.next_key()) {
    std::string name(e.reader.string());
    v.emplace_back(std::move(name), start_value<T>());
    read(e, v.back().second);
  }
}

template <typename T>
std::string json_of(const T& v) {
  std::string text;
  JsonWriter writer([&](std::string_view part) { text += part; });
  write(writer, v);
  return text;
}

template <Structure T>
void write(JsonWriter& w, T v) {
  T otherwise;
  std::vector<std::string> defaults;
  visit_fields(otherwise, [&](const char*, auto& field) { defaults.push_back(json_of(field)); });
  w.begin_object();
  size_t i = 0;
  visit_fields(v, [&](const char* name, auto& field) {
    if (json_of(field) == defaults[i++]) return;
    w.key(name);
    write(w, field);
  });
  w.end_object();
}

template <Structure T>
void read(const Entry& e, T& v) {
  v = T();
  e.expect(JsonEvent::kBeginObject, "an object");
  while (e.reader.next_key()) {
    const std::string key(e.reader.string());
    bool is_known = false;
    std::vector<std::string_view> names;
    visit_fields(v, [&](const char* name, auto& field) {
      names.emplace_back(name);
      if (key != name || is_known) return;
      is_known = true;
      read(Entry{e.reader, fmt::format("{}, {}", e.member, name)}, field);
    });
    if (!is_known) e.error(fmt::format("has no '{}'. {}", key, name_hint(key, names)));
  }
}

}  // namespace

void write_member(JsonWriter& writer, const RunMember& member) {
  std::visit([&](const auto* m) { write(writer, *m); }, member);
}

void read_member(JsonReader& reader, std::string_view name, const RunMember& member) {
  std::visit([&](auto* m) { read(Entry{reader, name}, *m); }, member);
}

std::string member_json(const RunMember& member) {
  std::string text;
  JsonWriter writer([&](std::string_view part) { text += part; });
  write_member(writer, member);
  return text;
}

bool differs_from_default(const RunRow& row, const RunSettings& settings) {
  RunSettings all = settings, otherwise;
  return member_json(row.at(all)) != member_json(row.at(otherwise));
}

std::string first_unsaveable(const RunSettings& s) {
  const auto opens = [](const RunRunner& r) { return bool(r.open); };
  const std::pair<const char*, bool> kAll[] = {
      {"model.import.ops", s.model.import.ops != nullptr},
      {"model.edits", !s.model.edits.empty()},
      {"runners[].open", std::any_of(s.runners.begin(), s.runners.end(), opens)},
      {"session.passes", s.session.passes != nullptr},
      {"session.tactics", s.session.tactics != nullptr},
      {"session.ops", s.session.ops != nullptr},
      {"session.build_engine", bool(s.session.build_engine)},
      {"session.save_engine", !s.session.save_engine.empty()},  // engine.save_engine says it
      {"session.profile", s.session.profile != 0},              // engine.profile
      {"session.on_warning", bool(s.session.on_warning)},
      {"session.judged", s.session.judged},                           // verdict.judge
      {"engine.config.profiles", !s.engine.config.profiles.empty()},  // engine.profiles
      {"engine.config.timing_cache", s.engine.config.timing_cache != nullptr},
      {"engine.config.calibrator", s.engine.config.calibrator != nullptr},
      {"engine.config.algorithm_selector", s.engine.config.algorithm_selector != nullptr},
      {"engine.config.on_progress", bool(s.engine.config.on_progress)},
      {"data.source", bool(s.data.source)},
      {"on_step", bool(s.on_step)},
  };
  for (const auto& [name, is_set] : kAll)
    if (is_set) return name;
  return {};
}

}  // namespace assay::poly
