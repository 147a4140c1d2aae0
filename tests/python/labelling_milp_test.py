# SPDX-License-Identifier: Apache-2.0
"""`rhino bench labelling` against a mixed-integer solver (HiGHS, as SciPy ships it) on random problems of middle size."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import scipy.optimize
    import scipy.sparse
except ImportError as error:
    print(f"SKIPPED: {error}; tools/setup_python installs it")
    sys.exit(77)

RHINO = os.environ.get("RHINO_PROGRAM", "rhino")
FORBIDDEN = 10**18
NODES, EDGES, TIMES = 30, 45, 12


def random_problem(seed):
    """A limit between the least and the usual usage, so that it binds; a fifth of the pairs forbidden."""
    random = np.random.default_rng(seed)
    states = random.integers(2, 6, NODES)
    begin = random.integers(0, TIMES - 1, NODES)
    end = np.minimum(begin + random.integers(1, 6, NODES), TIMES)
    costs = [random.integers(0, 100, n).tolist() for n in states]
    usages = [random.integers(0, 50, n).tolist() for n in states]
    pairs = [random.choice(NODES, 2, replace=False).tolist() for _ in range(EDGES)]
    tables = []
    for u, v in pairs:
        table = random.integers(0, 100, states[u] * states[v])
        tables.append([FORBIDDEN if random.random() < 0.2 else int(cost) for cost in table])
    live = [[i for i in range(NODES) if begin[i] <= t < end[i]] for t in range(TIMES)]
    least = max(sum(min(usages[i]) for i in now) for now in live)
    usual = max(sum(sum(usages[i]) / len(usages[i]) for i in now) for now in live)
    limit = int(least + (usual - least) * random.uniform(0.1, 0.8))
    return {"problem": {"name": f"random {seed}", "usage_limit": limit,
                        "nodes": {"intervals": np.stack([begin, end], 1).tolist(), "costs": costs, "usages": usages},
                        "edges": {"nodes": pairs, "costs": tables}}}


def optimum(problem):
    """The least cost, None if nothing is feasible: a 0/1 variable per strategy, one in [0, 1] per pair of an edge."""
    nodes, edges = problem["problem"]["nodes"], problem["problem"]["edges"]
    first = np.concatenate([[0], np.cumsum([len(costs) for costs in nodes["costs"]])])
    cost, upper = [float(c) for costs in nodes["costs"] for c in costs], [1.0] * first[-1]
    integral = [1] * first[-1]
    rows, low, high = [], [], []

    def row(entries, least, most):
        rows.append(entries)
        low.append(least)
        high.append(most)

    for i in range(len(nodes["costs"])):
        row({j: 1 for j in range(first[i], first[i + 1])}, 1, 1)
    for (u, v), table in zip(edges["nodes"], edges["costs"]):
        base, columns = len(cost), len(nodes["costs"][v])
        cost += [0.0 if c >= FORBIDDEN else float(c) for c in table]
        upper += [0.0 if c >= FORBIDDEN else 1.0 for c in table]
        integral += [0] * len(table)
        for s in range(len(nodes["costs"][u])):
            row({first[u] + s: -1} | {base + s * columns + t: 1 for t in range(columns)}, 0, 0)
        for t in range(columns):
            row({first[v] + t: -1} | {base + s * columns + t: 1 for s in range(len(nodes["costs"][u]))}, 0, 0)
    for t in range(TIMES):
        row({first[i] + s: usage for i, (begin, end) in enumerate(nodes["intervals"]) if begin <= t < end
             for s, usage in enumerate(nodes["usages"][i])}, -np.inf, problem["problem"]["usage_limit"])
    matrix = scipy.sparse.lil_matrix((len(rows), len(cost)))
    for r, entries in enumerate(rows):
        for column, value in entries.items():
            matrix[r, column] = value
    result = scipy.optimize.milp(cost, integrality=integral, bounds=scipy.optimize.Bounds(0, upper),
                                 constraints=scipy.optimize.LinearConstraint(matrix.tocsr(), low, high),
                                 options={"mip_rel_gap": 0})
    if result.status == 2:
        return None
    assert result.status == 0, result.message
    return round(result.fun)


class Milp(unittest.TestCase):
    def test_random_problems(self):
        feasible = 0
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "problem.json"
            for seed in range(12):
                with self.subTest(seed=seed):
                    problem = random_problem(seed)
                    best = optimum(problem)
                    file.write_text(json.dumps(problem))
                    run = subprocess.run([RHINO, "bench", "labelling", file, "--work", "20000000", "--threads", "1"],
                                         capture_output=True, text=True)
                    if best is None:
                        self.assertEqual(run.returncode, 1, run.stderr)
                        self.assertIn("feasible", run.stdout)
                        continue
                    feasible += 1
                    self.assertEqual(run.returncode, 0, run.stderr)
                    cost, bound = re.search(r"^cost (-?\d+) bound (-?\d+) gap", run.stdout, re.M).groups()
                    self.assertEqual(int(cost), best)
                    self.assertLessEqual(int(bound), best)
        self.assertGreater(feasible, 5)


if __name__ == "__main__":
    unittest.main()
