#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that arrows between the folders of src/rhino point down only, from the #include lines.

Also: which folders may name MPI, Kokkos, HDF5, CUDA or a heavy header; that backend #ifdefs stay in device/, comm/ and
kernels/; that apps and tests aside nobody includes upwards; that no file is too long; that each file has its SPDX line; that
headers have #pragma once, and that a source includes the header of its own name first, which is what proves that such a
header compiles alone.

usage: check_arrows.py SOURCE_DIR | --self-test
"""

import pathlib
import re
import sys
import tempfile

# folder -> the folders that it may include besides itself. plan/mpi and plan/labelling are folders of their own.
ALLOWED = {
    "base": [],
    "ir": ["base"],
    "ad": ["base", "ir"],
    "frontend": ["base", "ir"],
    "zoo": ["base", "ir", "ad"],
    "shard": ["base", "ir"],
    "cluster": ["base", "ir", "shard"],
    "cost": ["base", "ir", "shard", "cluster"],
    "memory": ["base", "ir"],
    "plan": ["base", "ir", "shard", "cluster", "cost", "memory", "plan/labelling"],
    "plan/mpi": ["base", "plan"],
    "plan/labelling": ["base"],
    "lower": ["base", "ir", "shard", "cluster", "memory", "plan"],
    "sim": ["base", "ir", "shard", "cluster", "cost", "lower"],
    "device": ["base"],
    "comm": ["base", "ir", "device"],
    "kernels": ["base", "ir", "device"],
    # io reads the program text of a model by the frontend.
    "io": ["base", "ir", "frontend", "shard", "cluster", "plan"],
    # The planner and the runtime never include each other: they meet in the Plan and the RankProgram.
    "runtime": ["base", "ir", "shard", "lower", "device", "comm", "kernels", "io"],
    "report": ["base", "ir", "shard", "cluster", "cost", "memory", "plan", "lower", "sim"],
}

# outside header -> folders that may include it (in sources and headers)
OUTSIDE = {
    r"mpi\.h": {"plan/mpi", "comm", "io", "runtime"},
    r"hdf5\.h|H5[A-Z].*": {"io"},
    r"Kokkos_.*": {"device", "kernels"},
    r"cuda.*|cublas.*|cudnn.*": {"device", "comm", "kernels"},
    r"nccl\.h": {"comm"},
    r"dnnl.*|cblas\.h|sleef\.h|hwy/.*": {"kernels"},
}

# headers that our own headers must not drag along
HEAVY = re.compile(r"mpi\.h|hdf5\.h|Kokkos_.*|cuda.*|nccl\.h|dnnl.*|spdlog/.*|toml\+\+/.*|nlohmann/.*|CLI/.*|fmt/(?!core\.h).*")

BACKEND_IF = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*(?:CUDA|HIP|NCCL|KOKKOS|__NVCC__|DNNL|OPENBLAS)")
BACKEND_FOLDERS = {"device", "comm", "kernels"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
LONGEST = 800


def folder_of(relative, allowed=ALLOWED):
    """The folder of a path like plan/mpi/board.hpp: the longest one that the table knows."""
    parts = relative.split("/")[:-1]
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) in allowed:
            return "/".join(parts[:end])
    return None


def check_tree(root):
    """List of what is wrong under root/src/rhino, as 'file:line: message'."""
    problems = []
    source = root / "src" / "rhino"
    for folder in sorted(p.name for p in source.iterdir() if p.is_dir()):
        if folder not in ALLOWED:
            problems.append(f"src/rhino/{folder}: a folder that the design does not know")
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh", ".def", ".inc"}:
            continue
        relative = path.relative_to(source).as_posix()
        problems += check_file(path, relative)
    for top in ["apps", "tests", "tools"]:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in {".hpp", ".cpp", ".cu", ".py"}:
                problems += check_form(path, path.relative_to(root).as_posix())
    return problems


def check_form(path, name):
    """What holds for every file of ours: its licence line and its length."""
    lines = path.read_text(encoding="utf-8").splitlines()
    problems = []
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
        problems.append(f"{name}:1: no SPDX-License-Identifier line")
    if len(lines) > LONGEST:
        problems.append(f"{name}:{len(lines)}: longer than {LONGEST} lines")
    return problems


def check_file(path, relative):
    folder = folder_of(relative)
    name = f"src/rhino/{relative}"
    if folder is None:
        return [f"{name}: in no folder that the design knows"]
    problems = check_form(path, name) + check_own_header(path, relative, name)
    allowed = set(ALLOWED[folder]) | {folder}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if BACKEND_IF.match(line) and folder not in BACKEND_FOLDERS:
            problems.append(f"{name}:{number}: a backend #if outside of {', '.join(sorted(BACKEND_FOLDERS))}")
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1) or match.group(2)
        if header.startswith("rhino/"):
            target = folder_of(header[len("rhino/"):])
            if target is None:
                problems.append(f"{name}:{number}: includes <{header}>, which is in no known folder")
            elif target not in allowed:
                problems.append(f"{name}:{number}: {folder} must not include {target} (<{header}>)")
            continue
        if match.group(2) and path.suffix == ".hpp" and "/" in header:
            problems.append(f"{name}:{number}: our headers are included as <rhino/folder/name.hpp>, not \"{header}\"")
        for pattern, folders in OUTSIDE.items():
            if re.fullmatch(pattern, header) and folder not in folders:
                problems.append(f"{name}:{number}: {folder} must not include <{header}>")
        if path.suffix == ".hpp" and HEAVY.fullmatch(header) and not may_be_heavy(relative):
            problems.append(f"{name}:{number}: <{header}> is too heavy for a header; include it in the source")
    return problems


def check_own_header(path, relative, name):
    """A header has #pragma once; a source of the same name includes it before anything else."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".hpp":
        return [] if re.search(r"^#pragma once$", text, re.MULTILINE) else [f"{name}: has no #pragma once"]
    header = path.with_suffix(".hpp")
    if path.suffix != ".cpp" or not header.exists():
        return []
    first = next((m.group(1) or m.group(2) for m in map(INCLUDE.match, text.splitlines()) if m), None)
    own = "rhino/" + relative[: -len(".cpp")] + ".hpp"
    return [] if first in {own, header.name} else [f"{name}: must include <{own}> first, so that it is seen to compile alone"]


def may_be_heavy(relative):
    """Headers inside of one backend, which nobody outside of it includes."""
    return "/detail/" in relative or re.match(r"(comm/(mpi|nccl)|plan/mpi|kernels/(host|cuda)|device|io)/", relative)


def self_test():
    """Each kind of fault, planted, must be found; a clean tree must pass."""
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    once = spdx + "#pragma once\n"
    cases = [
        ("ir/a.hpp", once + "#include <rhino/base/error.hpp>\n#include <vector>\n", None),
        ("ir/a.hpp", once + "#include <rhino/plan/plan.hpp>\n", "ir must not include plan"),
        ("plan/a.cpp", spdx + "#include <rhino/runtime/train.hpp>\n", "plan must not include runtime"),
        ("plan/a.cpp", spdx + "#include <rhino/plan/mpi/board.hpp>\n", "plan must not include plan/mpi"),
        ("runtime/a.cpp", spdx + "#include <rhino/plan/plan.hpp>\n", "runtime must not include plan"),
        ("plan/a.cpp", spdx + "  #  include <mpi.h>\n", "plan must not include <mpi.h>"),
        ("plan/mpi/a.cpp", spdx + "#include <mpi.h>\n", None),
        ("shard/a.cpp", spdx + "#include <Kokkos_Core.hpp>\n", "shard must not include <Kokkos_Core.hpp>"),
        ("ir/a.hpp", once + "#include <nlohmann/json.hpp>\n", "too heavy"),
        ("ir/a.cpp", spdx + "#include <nlohmann/json.hpp>\n", None),
        ("lower/a.cpp", spdx + "#ifdef RHINO_ENABLE_CUDA\n#endif\n", "backend #if"),
        ("device/a.cpp", spdx + "#ifdef RHINO_ENABLE_CUDA\n#endif\n", None),
        ("ir/a.cpp", "int x;\n", "no SPDX"),
        ("ir/a.cpp", spdx + "\n" * 900, "longer than"),
        ("new/a.cpp", spdx, "does not know"),
        ("ir/a.hpp", spdx + "int x();\n", "no #pragma once"),
    ]
    own_header = [
        ("ir/a.cpp", spdx + "#include <vector>\n#include <rhino/ir/a.hpp>\n", "must include <rhino/ir/a.hpp> first"),
        ("ir/a.cpp", spdx + "#include <rhino/ir/a.hpp>\n#include <vector>\n", None),
    ]
    failures = 0
    for relative, text, expected in cases + own_header:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "src" / "rhino" / relative
            path.parent.mkdir(parents=True)
            if (relative, text, expected) in own_header:
                path.with_suffix(".hpp").write_text(once, encoding="utf-8")
            path.write_text(text, encoding="utf-8")
            problems = check_tree(pathlib.Path(folder))
            good = any(expected in p for p in problems) if expected else not problems
            if not good:
                failures += 1
                print(f"self-test: {relative} with {text[len(spdx):60]!r}: expected {expected}, got {problems}")
    print(f"self-test: {len(cases + own_header) - failures} of {len(cases + own_header)} cases hold")
    return 1 if failures else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    problems = check_tree(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
