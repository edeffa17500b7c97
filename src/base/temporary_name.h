// Names of files that are being written; base/stale_temporaries.h removes those whose writer is dead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The name of a file until it gets its final one, or
/// while a model that is being replaced refers to it:
///
///     assay-<boot>-<writer>-<destination>-<check>.tmp       (.data: a model may refer to it)
///
/// all in hexadecimal digits: boot of the machine, writer, final name, and a checksum of the others, so that
/// no other file is mistaken for one.
enum class TemporaryKind { kFile, kData };

/// A random number, shared by the files of one writer: while one of them is locked (flock), all are in use.
uint64_t new_writer_id();
std::string temporary_name(TemporaryKind kind, uint64_t writer, std::string_view destination);

/// The parts of such a name.
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
/// True when `name` is the temporary name of a file `destination`.
bool is_temporary_name_of(std::string_view name, std::string_view destination);

}  // namespace assay
