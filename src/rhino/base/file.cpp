// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/file.hpp>

#include <cerrno>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

namespace rhino {
namespace {

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// An open file descriptor; closed at the end of its life.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool valid() const { return value_ >= 0; }
  int get() const { return value_; }

 private:
  int value_;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::int64_t largest_bytes) {
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  RHINO_CHECK(file.valid(), "cannot open {}: {}", path.string(), reason(errno));
  struct stat status {};
  RHINO_CHECK_AS(EnvironmentError, ::fstat(file.get(), &status) == 0, "cannot examine {}: {}", path.string(),
                 reason(errno));
  RHINO_CHECK(S_ISREG(status.st_mode), "{} is not a regular file", path.string());
  RHINO_CHECK(status.st_size <= largest_bytes, "{} has {}, more than the {} that such a file may have", path.string(),
              human_bytes(status.st_size), human_bytes(largest_bytes));
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    RHINO_CHECK_AS(EnvironmentError, got >= 0, "cannot read {}: {}", path.string(), reason(errno));
    if (got == 0) break;  // the file shrank meanwhile
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

PendingFile::PendingFile(std::filesystem::path path) : path_(std::move(path)) {
  RHINO_CHECK_AS(EnvironmentError, path_.has_filename(), "cannot write to '{}': it names no file", path_.string());
  // A rename would put a file into the place of a device, a pipe or a link; for root even of /dev/null.
  std::error_code absent;
  if (const auto status = std::filesystem::status(path_, absent); std::filesystem::exists(status)) {
    RHINO_CHECK_AS(EnvironmentError, !std::filesystem::is_directory(status), "cannot write {}: it is a folder", path_.string());
    RHINO_CHECK_AS(EnvironmentError, std::filesystem::is_regular_file(status), "cannot write {}: it is not a regular file",
                   path_.string());
    if (std::filesystem::is_symlink(path_, absent)) path_ = std::filesystem::canonical(path_, absent);
  }
  const std::string pattern = (folder_of(path_) / ("." + path_.filename().string() + ".XXXXXX")).string();
  std::vector<char> name(pattern.begin(), pattern.end());
  name.push_back('\0');
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  RHINO_CHECK_AS(EnvironmentError, descriptor >= 0, "cannot write {}: {}", path_.string(), reason(errno));
  // mkostemp makes private files; results are as public as any other file of the user.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const int mode_result = ::fchmod(descriptor, 0666 & ~mask);
  const int mode_error = errno;
  ::close(descriptor);
  temporary_ = name.data();
  pending_ = true;
  if (mode_result != 0) {
    ::unlink(temporary_.c_str());
    RHINO_FAIL(EnvironmentError, "cannot write {}: {}", path_.string(), reason(mode_error));
  }
}

PendingFile::~PendingFile() {
  if (pending_) ::unlink(temporary_.c_str());
}

void PendingFile::commit() {
  RHINO_ASSERT(pending_, "{} is committed twice", path_.string());
  {
    const Descriptor file(temporary_, O_RDONLY);
    RHINO_CHECK_AS(EnvironmentError, file.valid() && ::fsync(file.get()) == 0, "cannot write {}: {}", path_.string(),
                   reason(errno));
  }
  RHINO_CHECK_AS(EnvironmentError, ::rename(temporary_.c_str(), path_.c_str()) == 0, "cannot write {}: {}",
                 path_.string(), reason(errno));
  pending_ = false;
  // The new name itself must survive a crash; some file systems do not support this, and then it is not an error.
  const Descriptor folder(folder_of(path_), O_RDONLY | O_DIRECTORY);
  if (folder.valid()) ::fsync(folder.get());
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  PendingFile pending(path);
  {
    const Descriptor file(pending.temporary_path(), O_WRONLY);
    RHINO_CHECK_AS(EnvironmentError, file.valid(), "cannot write {}: {}", path.string(), reason(errno));
    while (!content.empty()) {
      const ssize_t wrote = ::write(file.get(), content.data(), content.size());
      if (wrote < 0 && errno == EINTR) continue;
      RHINO_CHECK_AS(EnvironmentError, wrote > 0, "cannot write {}: {}", path.string(), reason(errno));
      content.remove_prefix(static_cast<std::size_t>(wrote));
    }
  }
  pending.commit();
}

}  // namespace rhino
