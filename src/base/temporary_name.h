// Names of files that are being written, and the removal of those whose writer is dead.
#pragma once

#include <cstdint>
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
bool is_temporary_name(std::string_view name, TemporaryKind kind);
/// Whether `name` is that of a file that will be called `destination`.
bool is_temporary_name_of(std::string_view name, std::string_view destination);

/// Removes from a folder the temporary files of this user whose writers have ended without doing so: those
/// that no live process has locked, and, where it cannot be known (they were made before this machine
/// started, or by another one), that are a day old. One that a file in the folder names stays: a model needs
/// it.
void remove_stale_temporaries(const std::string& folder);

}  // namespace assay
