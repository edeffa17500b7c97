// Members of RunSettings as JSON, each by its type.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "poly/run_table.h"

namespace assay::poly {

/// Throws Error (kUnsupported) for a custom function.
void write_member(JsonWriter& writer, const RunMember& member);
/// Reads the next value. `name` is the member's, for errors. Throws Error that names it and the position in
/// the document.
void read_member(JsonReader& reader, std::string_view name, const RunMember& member);
/// The canonical JSON of a member.
std::string member_json(const RunMember& member);

/// True when the member differs from its default in RunSettings().
bool differs_from_default(const RunRow& row, const RunSettings& settings);

/// Write and read the content of a settings file. Throw Error as save_run_settings() and load_run_settings()
/// do; `name` identifies the file in errors.
std::string run_settings_text(const RunSettings& settings);
RunSettings parse_run_settings(std::string_view text, const std::string& name);

/// The first thing in the settings that no file can hold, by its name in RunSettings; empty: there is none.
std::string first_unsaveable(const RunSettings& settings);

}  // namespace assay::poly
