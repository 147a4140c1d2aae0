// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/io/hdf5_internal.hpp>

namespace rhino::io::detail {

/// Where the write driver leaves the first failure.
struct WriteFailure {
  int code = 0;  ///< errno of the first failed call; 0 if none
};

/// A virtual file driver that writes a plain HDF5 file and survives a full disk: HDF5 1.10 cannot close a file whose
/// writes fail (the program crashes when the library ends), so the first failure is kept in `failure`, later writes are
/// dropped and HDF5 is told that all went well; whoever closes the file asks `failure`. Sets the driver of the file access
/// list `access`; `failure` must outlive the file. Returns the driver's registration, to be kept until the file is closed.
Hdf5Handle use_write_driver(hid_t access, WriteFailure* failure);

}  // namespace rhino::io::detail
