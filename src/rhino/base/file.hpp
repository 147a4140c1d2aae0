// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rhino {

/// A whole regular file. Throws InputError if it is missing, no regular file or larger than
/// `largest_bytes`, EnvironmentError if reading fails.
std::string read_file(const std::filesystem::path& path, std::int64_t largest_bytes = std::int64_t{1} << 32);

/// A file that appears under its final name only when complete: write to temporary_path(), then
/// commit(). Without commit the temporary file is removed on destruction, so that neither an error nor a
/// full disk leaves half a file behind. One process owns it; where several ranks write one file, the root
/// owns it and tells the others temporary_path().
class PendingFile {
 public:
  /// Throws EnvironmentError if the folder does not exist or cannot be written, or if `path` is something else than a
  /// regular file (a folder, a device). `path` may exist already: it stays as it is until commit. If it is a link, the
  /// file that it points to is replaced.
  explicit PendingFile(std::filesystem::path path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// In the same folder as the final name; an empty file from the start.
  const std::filesystem::path& temporary_path() const noexcept { return temporary_; }

  /// Syncs the temporary file (closed by then) and renames it to the final name. Throws EnvironmentError.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool pending_ = false;
};

/// Writes a whole file by PendingFile. Throws EnvironmentError.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace rhino
