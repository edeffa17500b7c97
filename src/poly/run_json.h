// Members of RunSettings as JSON, each by its type.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "poly/run_table.h"

namespace assay::poly {

/// Throws Error (kUnsupported) for a function of the program's own.
void write_member(JsonWriter& writer, const RunMember& member);
/// Reads the next value. `name` is the member's, for errors. Throws Error that names it and the place in the
/// document.
void read_member(JsonReader& reader, std::string_view name, const RunMember& member);
/// The JSON of a member, which is equal for equal values.
std::string member_json(const RunMember& member);

/// Whether the member is something else than in RunSettings().
bool differs_from_default(const RunRow& row, const RunSettings& settings);

/// What a settings file holds. Throw Error as save_run_settings() and load_run_settings() do; `name` is what
/// errors call the file.
std::string run_settings_text(const RunSettings& settings);
RunSettings parse_run_settings(std::string_view text, const std::string& name);

/// The first thing in the settings that no file can hold, by its name in RunSettings; empty: there is none.
std::string first_unsaveable(const RunSettings& settings);

}  // namespace assay::poly
