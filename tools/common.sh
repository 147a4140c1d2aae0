# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by the scripts beside it: sourced, not run. Expects `set -euo pipefail` and $root (the source tree).

say() { printf '== %s\n' "$*"; }

# Installs what is missing of tools/packages.txt on Debian 12; elsewhere names what is needed and stops.
install_packages() {
  local needed missing=() package runner=()
  mapfile -t needed < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$root/tools/packages.txt")
  # A missing os-release is another system too.
  local id="" version=""
  if [[ -r /etc/os-release ]]; then
    id="$(sed -n 's/^ID="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release)"
    version="$(sed -n 's/^VERSION_ID="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release)"
  fi
  if [[ "$id" != debian || "$version" != 12 ]]; then
    {
      echo "This script installs packages on Debian 12 only; this system is ${id:-unknown} ${version}."
      echo "Install the equivalents of these Debian packages, then build by hand (README, 'By hand'):"
      printf '  %s\n' "${needed[@]}"
    } >&2
    exit 1
  fi
  for package in "${needed[@]}"; do
    # shellcheck disable=SC2016  # ${db:...} is dpkg-query's own syntax
    [[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" == installed ]] || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "packages: all of tools/packages.txt are installed"
    return
  fi
  say "packages: installing ${missing[*]}"
  if [[ "$(id -u)" -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "Installing packages needs root or sudo. As root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    runner=(sudo)
  fi
  "${runner[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${runner[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset="$1" target targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  mkdir -p "$root/build"
  say "configure: preset $preset, into build/$preset (log: build/configure-$preset.log)"
  (cd "$root" && cmake --preset "$preset" >"$root/build/configure-$preset.log" 2>&1) || {
    cat "$root/build/configure-$preset.log" >&2
    exit 1
  }
  say "build: ${*:-everything} on $(nproc) cores"
  (cd "$root" && cmake --build --preset "$preset" -j "$(nproc)" "${targets[@]}")
}

# More ranks than cores, also as root, on this machine alone: OpenMPI refuses or is slow without these.
mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,self OMPI_MCA_mpi_yield_when_idle=1
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
}
