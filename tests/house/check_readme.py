#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks (or, with --update, makes) the tables of the README that the program itself knows best: commands and deck keys.

usage: check_readme.py README.md RHINO_PROGRAM [--update]
"""

import pathlib
import subprocess
import sys

TABLES = {"command table": ["help", "--markdown"], "deck table": ["help", "decks", "--markdown"]}


def with_tables(readme, program):
    """The README's text with each table replaced by what the program prints."""
    for name, arguments in TABLES.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        if readme.count(begin) != 1 or readme.count(end) != 1 or readme.index(begin) > readme.index(end):
            sys.exit(f"the README has no pair of comments '{begin.strip()}' and '{end}'")
        printed = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
        head, rest = readme.split(begin)
        readme = head + begin + printed + end + rest.split(end)[1]
    return readme


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    before = path.read_text(encoding="utf-8")
    after = with_tables(before, sys.argv[2])
    if "--update" in sys.argv:
        path.write_text(after, encoding="utf-8")
    elif before != after:
        sys.exit("the README's tables are not what the program prints; make them again: tools/update_readme")


if __name__ == "__main__":
    main()
