// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <hdf5.h>
#include <hwloc.h>
#include <mpi.h>
#include <unistd.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

#include "commands.hpp"
#include "mpi_session.hpp"

namespace rhino::app {
namespace command_info {

// The machine's topology, as hwloc sees it.
class Topology {
 public:
  Topology() {
    RHINO_CHECK_AS(EnvironmentError, hwloc_topology_init(&topology_) == 0, "hwloc does not start");
    if (hwloc_topology_load(topology_) != 0) {
      hwloc_topology_destroy(topology_);
      RHINO_FAIL(EnvironmentError, "hwloc cannot read this machine's topology");
    }
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  int count(hwloc_obj_type_t type) const { return std::max(hwloc_get_nbobjs_by_type(topology_, type), 0); }

  std::string cpu_model() const {
    for (const hwloc_obj_t object :
         {hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(topology_)}) {
      const char* name = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, "CPUModel");
      if (name != nullptr) return std::string(trim(name));
    }
    return "unknown processor";
  }

  /// Hardware threads that this process may use: "0-3,8".
  std::string binding() const {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    std::string text = "unknown";
    if (set != nullptr && hwloc_get_cpubind(topology_, set, HWLOC_CPUBIND_PROCESS) == 0) {
      char* list = nullptr;
      if (hwloc_bitmap_list_asprintf(&list, set) >= 0) text = list;
      std::free(list);
    }
    hwloc_bitmap_free(set);
    return text;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
};

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown host";
}

// Of the operating system: hwloc counts what the nodes had when the machine started, which may be less.
std::int64_t memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view all(text, static_cast<std::size_t>(length));
  return std::string(trim(split(split(all, ',').front(), '\n').front()));
}

std::string hdf5_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  hbool_t thread_safe = false;
  H5is_library_threadsafe(&thread_safe);
  const bool deflate = H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
  return fmt::format("{}.{}.{}, parallel, {}thread-safe, deflate {}", major, minor, release,
                     thread_safe ? "" : "not ", deflate ? "yes" : "no");
}

std::string kokkos_library() {
  return fmt::format("{}.{}.{}, default execution space {}, host space {}", KOKKOS_VERSION / 10000,
                     KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100, Kokkos::DefaultExecutionSpace::name(),
                     Kokkos::DefaultHostExecutionSpace::name());
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

int run() {
  const MpiSession mpi;
  const Topology topology;
  const auto ranks = mpi.gather(fmt::format("{}, hardware threads {}, OMP_NUM_THREADS {}, OPENBLAS_NUM_THREADS {}",
                                            host_name(), topology.binding(), environment_value("OMP_NUM_THREADS"),
                                            environment_value("OPENBLAS_NUM_THREADS")));
  if (!mpi.root()) return 0;
  fmt::print("rhino     {} ({} build)\n", RHINO_VERSION, RHINO_BUILD_TYPE);
  fmt::print("MPI       {}\n", mpi_library());
  fmt::print("HDF5      {}\n", hdf5_library());
  fmt::print("Kokkos    {}\n", kokkos_library());
  fmt::print("device    host: {}, {} cores, {} hardware threads, {}\n", topology.cpu_model(),
             topology.count(HWLOC_OBJ_CORE), topology.count(HWLOC_OBJ_PU), human_bytes(memory_bytes()));
  fmt::print("ranks     {}\n", mpi.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) fmt::print("rank {:<4} {}\n", rank, ranks[rank]);
  return 0;
}

Action declare(CommandLine&) { return run; }

}  // namespace command_info

const Command info_command = {"info", "versions, ranks with threads and binding, devices",
                              "rhino info\nmpirun -n 4 rhino info", command_info::declare};

}  // namespace rhino::app
