#include "base/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <random>

#include "base/descriptor.h"

namespace assay {
namespace {

constexpr std::string_view kStart = "assay-";
constexpr time_t kDay = 24 * 60 * 60;
/// No model in any format is larger.
constexpr off_t kLargestModel = off_t{1} << 31;

std::string_view suffix(TemporaryKind kind) { return kind == TemporaryKind::kData ? ".data" : ".tmp"; }

/// FNV-1a.
uint64_t sum_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char ch : text) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001B3;
  return hash;
}
uint32_t short_sum_of(std::string_view text) {
  const uint64_t sum = sum_of(text);
  return static_cast<uint32_t>(sum ^ sum >> 32);
}

/// Identifies the boot of the machine, the same in all containers; 0 if unknown.
uint32_t boot_number() {
  static const uint32_t number = [] {
    const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t n = file ? ::read(file.get(), text.data(), text.size()) : 0;
    return n > 0 ? short_sum_of({text.data(), static_cast<size_t>(n)}) : 0;
  }();
  return number;
}

std::string text_of(const TemporaryName& p) {
  std::string text = fmt::format("{}{:08x}-{:016x}-{:016x}-", kStart, p.boot, p.writer, p.destination);
  return text += fmt::format("{:08x}{}", short_sum_of(text), suffix(p.kind));
}

std::optional<Parts> parse(std::string_view name) {
  // assay- 8 - 16 - 16 - 8 and a suffix
  constexpr size_t kBoot = kStart.size(), kWriter = kBoot + 9, kDestination = kWriter + 17,
                   kEnd = kDestination + 25;
  if (name.size() <= kEnd || !name.starts_with(kStart)) return std::nullopt;
  Parts p;
  const auto number = [&](size_t at, size_t digits, auto& out) {
    std::from_chars(name.data() + at, name.data() + at + digits, out, 16);
  };
  number(kBoot, 8, p.boot);
  number(kWriter, 16, p.writer);
  number(kDestination, 16, p.destination);
  p.kind = name.substr(kEnd) == suffix(TemporaryKind::kData) ? TemporaryKind::kData : TemporaryKind::kFile;
  // Rejects text that does not round-trip.
  return text_of(p) == name ? std::optional(p) : std::nullopt;
}

struct Found {
  std::string name;
  Parts parts;
  Descriptor file;
  ino_t inode = 0;
};

/// The folder's names; none when it cannot be read.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Descriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> list(again ? ::fdopendir(again.get()) : nullptr, ::closedir);
  if (list == nullptr) return names;
  again.release();
  while (const dirent* entry = ::readdir(list.get())) names.emplace_back(entry->d_name);
  return names;
}

/// Locks the file unless another process holds it, or it is not certainly ours and stale.
bool claim(int folder, Found& f) {
  for (const int access : {O_RDWR, O_RDONLY}) {
    f.file =
        Descriptor(::openat(folder, f.name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (f.file || errno != EACCES) break;
  }
  struct stat st {};
  if (!f.file || ::fstat(f.file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != ::geteuid())
    return false;
  f.inode = st.st_ino;
  const bool is_known = f.parts.boot != 0 && f.parts.boot == boot_number();
  if (!is_known && std::time(nullptr) - st.st_mtime < kDay) return false;
  return ::flock(f.file.get(), LOCK_EX | LOCK_NB) == 0;
}

/// True when a file in the folder contains the name.
bool is_named(int folder, const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& other) {
    if (parse(other)) return false;
    const Descriptor file(::openat(folder, other.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat st {};
    if (!file || ::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > kLargestModel)
      return false;
    return MappedFile::map(file, other)->bytes().find(name) != std::string_view::npos;
  });
}

void remove_group(int folder, const std::vector<std::string>& names, std::vector<Found>& group) {
  // One at a time, because of the limit of open files.
  for (Found& f : group) {
    if (!claim(folder, f)) return;
    f.file = Descriptor();
  }
  for (Found& f : group) {
    // Checked again, since a new writer locks its file and then checks that its name still exists.
    if (!claim(folder, f)) continue;
    struct stat st {};
    if (::fstatat(folder, f.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == f.inode &&
        (f.parts.kind != TemporaryKind::kData || !is_named(folder, names, f.name)))
      ::unlinkat(folder, f.name.c_str(), 0);
    f.file = Descriptor();
  }
}

}  // namespace

uint64_t new_writer_id() {
  uint64_t id = 0;
  if (::getrandom(&id, sizeof id, 0) == static_cast<ssize_t>(sizeof id)) return id;
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string temporary_name(TemporaryKind kind, uint64_t writer, std::string_view destination) {
  return text_of({boot_number(), writer, sum_of(destination), kind});
}

std::optional<TemporaryName> parse_temporary_name(std::string_view name) {
  // assay- 8 - 16 - 16 - 8 and a suffix
  constexpr size_t kBoot = kStart.size(), kWriter = kBoot + 9, kDestination = kWriter + 17,
                   kEnd = kDestination + 25;
  if (name.size() <= kEnd || !name.starts_with(kStart)) return std::nullopt;
  TemporaryName p;
  const auto number = [&](size_t at, size_t digits, auto& out) {
    std::from_chars(name.data() + at, name.data() + at + digits, out, 16);
  };
  number(kBoot, 8, p.boot);
  number(kWriter, 16, p.writer);
  number(kDestination, 16, p.destination);
  p.kind = name.substr(kEnd) == suffix(TemporaryKind::kData) ? TemporaryKind::kData : TemporaryKind::kFile;
  // What was not understood makes another text.
  return text_of(p) == name ? std::optional(p) : std::nullopt;
}

bool TemporaryName::is_of_this_boot() const { return boot != 0 && boot == boot_number(); }

bool is_temporary_name(std::string_view name, TemporaryKind kind) {
  const auto parts = parse_temporary_name(name);
  return parts && parts->kind == kind;
}

bool is_temporary_name_of(std::string_view name, std::string_view destination) {
  const auto parts = parse_temporary_name(name);
  return parts && parts->destination == sum_of(destination);
}

}  // namespace assay
