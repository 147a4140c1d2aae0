// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/hdf5_write_driver.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#else
#include <H5FDpublic.h>
#endif

namespace rhino::io::detail {

namespace {

struct DriverInfo {
  WriteFailure* failure = nullptr;
};

struct DriverFile {
  H5FD_t common;  ///< HDF5 casts between the two
  int descriptor = -1;
  haddr_t end_of_allocation = 0;
  haddr_t end_of_file = 0;
  WriteFailure* failure = nullptr;
};

DriverFile& as_file(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file); }
const DriverFile& as_file(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file); }

void note(DriverFile& file) {
  if (file.failure->code == 0) file.failure->code = errno != 0 ? errno : EIO;
}

H5FD_t* open_file(const char* name, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  const int descriptor = ::open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    info->failure->code = errno;
    return nullptr;
  }
  auto* file = new DriverFile{};
  file->descriptor = descriptor;
  file->failure = info->failure;
  return &file->common;
}

herr_t close_file(H5FD_t* base) {
  DriverFile& file = as_file(base);
  if (::close(file.descriptor) != 0) note(file);
  delete &file;
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return as_file(file).end_of_allocation; }
herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  as_file(file).end_of_allocation = address;
  return 0;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return as_file(file).end_of_file; }

herr_t read_bytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  const DriverFile& file = as_file(base);
  auto* out = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(file.descriptor, out, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) {
      std::memset(out, 0, size);
      return 0;
    }
    out += got;
    size -= static_cast<size_t>(got);
    address += static_cast<haddr_t>(got);
  }
  return 0;
}

herr_t write_bytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  DriverFile& file = as_file(base);
  const auto* in = static_cast<const char*>(buffer);
  file.end_of_file = std::max<haddr_t>(file.end_of_file, address + size);
  while (size > 0 && file.failure->code == 0) {
    const ssize_t put = ::pwrite(file.descriptor, in, size, static_cast<off_t>(address));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      note(file);
      break;
    }
    in += put;
    size -= static_cast<size_t>(put);
    address += static_cast<haddr_t>(put);
  }
  return 0;
}

herr_t truncate_file(H5FD_t* base, hid_t, hbool_t) {
  DriverFile& file = as_file(base);
  if (file.end_of_file == file.end_of_allocation) return 0;
  if (file.failure->code == 0 && ::ftruncate(file.descriptor, static_cast<off_t>(file.end_of_allocation)) != 0) note(file);
  file.end_of_file = file.end_of_allocation;
  return 0;
}

const H5FD_class_t& driver_class() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 2)
    c.version = H5FD_CLASS_VERSION;
    c.value = static_cast<H5FD_class_value_t>(600);
#endif
    c.name = "rhino_write";
    c.maxaddr = static_cast<haddr_t>(INT64_MAX);
    c.fc_degree = H5F_CLOSE_STRONG;
    c.fapl_size = sizeof(DriverInfo);
    c.open = open_file;
    c.close = close_file;
    c.query = query;
    c.get_eoa = end_of_allocation;
    c.set_eoa = set_end_of_allocation;
    c.get_eof = end_of_file;
    c.read = read_bytes;
    c.write = write_bytes;
    c.truncate = truncate_file;
    std::fill(std::begin(c.fl_map), std::end(c.fl_map), H5FD_MEM_SUPER);
    return c;
  }();
  return driver;
}

int unregister(std::int64_t id) { return H5FDunregister(id); }

}  // namespace

Hdf5Handle use_write_driver(hid_t access, WriteFailure* failure) {
  Hdf5Handle driver(H5FDregister(&driver_class()), unregister);
  RHINO_H5_WRITE(driver.get(), "HDF5 does not start");
  const DriverInfo info{failure};
  RHINO_H5_WRITE(H5Pset_driver(access, driver.get(), &info), "HDF5 does not start");
  return driver;
}

}  // namespace rhino::io::detail
