// Names of files that are being written; base/stale_temporaries.h removes those whose writer is dead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The name that a file has until it gets its own, or while a model refers to it that is about to be
/// replaced:
///
///     assay-<boot>-<writer>-<destination>-<check>.tmp       (.data: a model may refer to it)
///
/// all in hexadecimal digits: which start of which machine, which writer, what the file will be called, and a
/// sum of the others, so that nothing else is taken for one.
enum class TemporaryKind { kFile, kData };

/// Drawn at random. Files of one writer share it: as long as one of them is locked (flock), all are in use.
uint64_t new_writer_id();
std::string temporary_name(TemporaryKind kind, uint64_t writer, std::string_view destination);

/// What such a name says.
struct TemporaryName {
  uint32_t boot = 0;  ///< the start of the machine; 0: unknown
  uint64_t writer = 0, destination = 0;
  TemporaryKind kind = TemporaryKind::kFile;

  /// Certainly given since this machine started.
  bool is_of_this_boot() const;
};
/// Nothing for any other name.
std::optional<TemporaryName> parse_temporary_name(std::string_view name);
bool is_temporary_name(std::string_view name, TemporaryKind kind);
/// Whether `name` is that of a file that will be called `destination`.
bool is_temporary_name_of(std::string_view name, std::string_view destination);

}  // namespace assay
