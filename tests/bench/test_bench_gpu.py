#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What of bench_gpu.py needs no GPU: workloads, checks, tables and figures. Exit status 77: no numpy or matplotlib.

usage: test_bench_gpu.py LIBCROWDNMS FOLDER_OF_CONTENDERS
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gpu")]
try:
    import numpy as np
    import plot_gpu_rules
    from gpu import opencv, plots, reference, report, workloads
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import crowd_nms  # noqa: E402

LIBRARY, CONTENDERS = crowd_nms.Library(sys.argv[1]), sys.argv[2]
RECORDED = HERE / "recorded.json"


def only(pattern):
    found, = workloads.catalogue(pattern)
    return found


def survivors(method, batch):
    return reference.on_cpu(LIBRARY, method, batch)


class Workloads(unittest.TestCase):
    def test_rows_are_those_that_the_goals_were_stated_for(self):
        for name, box, score in [("oscars200", (3073.79, 339.16, 3130.45, 395.82), .6147),
                                 ("mosaic2792", (1342.20, 139.49, 1401.12, 198.41), .7636),
                                 ("uniform65536", (896.15, 1132.54, 947.29, 1168.55), .7812)]:
            batch = only(f"^rows/{name}$").make(0)
            self.assertTrue(np.allclose(batch.boxes[0], box, atol=.01), (name, batch.boxes[0]))
            self.assertAlmostEqual(float(batch.scores[0]), score, places=3)

    def test_every_workload_is_what_it_says(self):
        found = workloads.catalogue()
        self.assertEqual(len({(w.group, w.name) for w in found}), len(found))
        for workload in found:
            with self.subTest(f"{workload.group}/{workload.name}"):
                batch, again, other = workload.make(0), workload.make(0), workload.make(1)
                self.assertEqual(batch.frames, workload.frames)
                self.assertEqual(workload.full, batch.counts is None)
                self.assertTrue((batch.boxes == again.boxes).all() and (batch.scores == again.scores).all())
                self.assertFalse(np.array_equal(batch.boxes, other.boxes))
                self.assertTrue((batch.boxes[:, 2:] > batch.boxes[:, :2]).all())
                if workload.group != "steps":
                    self.assertEqual(len(batch.scores), workload.n)

    def test_raster_order_is_a_permutation_by_scale(self):
        plain, sorted_ = (only(f"^{group}/oscars1027$").make(0) for group in ("rows", "raster order"))
        self.assertEqual(sorted(map(tuple, plain.boxes)), sorted(map(tuple, sorted_.boxes)))
        width = sorted_.boxes[:, 2] - sorted_.boxes[:, 0]
        self.assertTrue((np.diff(np.floor(np.log(width) / np.log(1.2))) >= 0).all())

    def test_worst_cases_are_as_bad_as_they_claim(self):
        for name, greedy, map_reduce in [("chain4096", 2048, 1), ("chain4096 shuffled", 2048, 1), ("pile4096", 1, 1)]:
            for i in range(4):
                batch = only(f"worst/{name}$").make(i)
                self.assertEqual([len(survivors(m, batch)[0]) for m in ("greedy", "map-reduce")], [greedy, map_reduce])
        self.assertLess(len(survivors("greedy", only("one_spot").make(0))[0]), 10)
        self.assertEqual(len(set(only("equal_scores").make(0).scores)), 1)

    def test_flat_rows_are_what_they_are_called(self):
        for name, greedy, map_reduce in [("ladder1_4096", 2048, 1), ("ladder2_4096", 1366, 1), ("ladder8_4096", 456, 1),
                                         ("equal65536", 1, 1)]:
            batch = only(f"flat/{name}$").make(1)
            self.assertEqual([len(survivors(m, batch)[0]) for m in ("greedy", "map-reduce")], [greedy, map_reduce])
        for name, count in [("61 of 4096", 61), ("3000 of 16384", 3000)]:
            self.assertEqual(list(only(f"flat/{name}$").make(0).counts), [count])
        self.assertLess(len(set(only("flat/head640").make(0).scores)), 8400 // 2)

    def test_films_sway_between_their_ends(self):
        for name, low, high in [("crowd_run", 360, 698), ("mosaic", 1440, 2792)]:
            counts = [len(batch.scores) for batch in workloads.films(101)[name]]
            self.assertEqual((min(counts), max(counts), len(counts)), (low, high, 101))


class Checks(unittest.TestCase):
    def test_frames_of_a_ragged_batch_are_frames_of_their_own(self):
        batch = only("batch/8x1024 crowd ragged").make(0)
        alone = [survivors("greedy", workloads.batch(*batch.frame(f)))[0] for f in range(batch.frames)]
        self.assertEqual(reference.differences(alone, survivors("greedy", batch)), 0)

    def test_survivors_are_ranked_by_score_then_index(self):
        scores = np.array([.2, .9, .5, .9, .1])
        self.assertEqual(reference.in_rank_order(np.array([0, 1, 2, 3]), scores).tolist(), [1, 3, 2, 0])

    def test_differences_are_counted(self):
        right = [np.array([4, 1, 7]), np.array([2])]
        for wrong, count in [([[4, 1, 7], [2]], 0), ([[4, 7, 1], [2]], 1), ([[4, 1], []], 2), ([[4, 1, 8], [2]], 2)]:
            self.assertEqual(reference.differences(right, [np.array(frame, int) for frame in wrong]), count)
        with self.assertRaises(ValueError):
            reference.differences(right, right[:1])

    def test_opencv_keeps_the_same(self):
        contender = opencv.OpenCv.load(str(pathlib.Path(CONTENDERS) / "libbenchopencv.so"))
        if contender is None:
            self.skipTest("no OpenCV")
        for name in ("oscars1027", "uniform1024"):
            batch = only(f"^rows/{name}$").make(0)
            call = contender.prepare(types.SimpleNamespace(batch=batch))
            call()
            self.assertEqual(reference.differences(survivors("greedy", batch), call.survivors()), 0)


class Reports(unittest.TestCase):
    def setUp(self):
        self.written = json.loads(RECORDED.read_text())

    def change(self, group, workload, contender, median):
        for record in self.written["records"]:
            if (record["group"], record["workload"], record["contender"]) == (group, workload, contender):
                record["back_to_back"]["median"] = median
        return report.Results(self.written)

    def test_goals_are_judged(self):
        for greedy, verdict in [(6.99, "✓"), (7.01, "✗")]:
            table = report.goal_table(self.change("rows", "oscars1027", "greedy", greedy))
            self.assertIn(f"| oscars1027 | 7 | {greedy:.2f} {verdict} |", table)

    def test_slower_map_reduce_is_named(self):
        self.assertIn("no row ✓", report.other_goals(self.change("rows", "oscars1027", "map-reduce", 1.0)))
        self.assertIn("rows/oscars1027", report.other_goals(self.change("rows", "oscars1027", "map-reduce", 1e6)))

    def test_wrong_answers_are_told(self):
        self.assertIn("Every answer", report.wrong_answers(report.Results(self.written)))
        self.written["records"][1] = {k: self.written["records"][1][k] for k in ("group", "workload", "n", "contender")}
        self.written["records"][1]["wrong"] = "greedy differs in 3"
        page = report.page(report.Results(self.written))
        self.assertIn("greedy differs in 3", page)
        self.assertNotIn("Every answer", page)

    def test_tables_of_the_paper_hold_published_and_measured(self):
        results = report.Results(self.written)
        self.assertIn("| Tesla T4 (published) | 0.024 | 0.088 | 0.430 |", report.table_5(results))
        total = self.written["films"]["mosaic"]["k"]["8"]["total"]
        self.assertIn(f"| {report.figure(total)} |", report.table_6(results))

    def test_results_survive_their_file(self):
        self.assertEqual(json.loads(report.as_json(copy.deepcopy(self.written))), self.written)

    def test_figures_and_page_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([sys.executable, HERE / "plot_gpu.py", RECORDED, folder], capture_output=True,
                                    text=True)
            self.assertEqual(result.stderr, "")
            written = {pathlib.Path(line).name: pathlib.Path(line) for line in result.stdout.splitlines()}
            self.assertEqual(set(written), {"recorded.md"} | {f"recorded-{name}.png" for name in plots.FIGURES})
            for path in written.values():
                self.assertTrue(1000 < path.stat().st_size < 200_000, path)


class Rules(unittest.TestCase):
    PAGE = "".join(f"| {name} | {row} | 130 | {micros} | {ratio} |\n" for name in plot_gpu_rules.SETS
                   for row, micros, ratio in (("greedy", 5.00, "1.00"), ("soft-linear", 25.0, "5.00")))

    def plot(self, page):
        with tempfile.TemporaryDirectory() as folder:
            paths = pathlib.Path(folder, "page.md"), pathlib.Path(folder, "picture.png")
            paths[0].write_text(page)
            result = subprocess.run([sys.executable, HERE / "plot_gpu_rules.py", *paths], capture_output=True, text=True)
            return result, paths[1].stat().st_size if paths[1].exists() else 0

    def test_page_is_read(self):
        rows = plot_gpu_rules.read("| 4096 uniform | greedy | 1 | 2.0 | 1.00 |\n" + self.PAGE)
        self.assertEqual(rows, {name: [("greedy", 5., 1.), ("soft-linear", 25., 5.)] for name in plot_gpu_rules.SETS})

    def test_figure_is_written(self):
        result, size = self.plot(self.PAGE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(1000 < size < 200_000, size)

    def test_page_without_rows_is_told(self):
        result, size = self.plot(self.PAGE.replace("1027 clustered", "1028 clustered"))
        self.assertEqual((result.returncode, size), (1, 0))
        self.assertIn("page.md has no rows of 1027 clustered", result.stderr)


class Program(unittest.TestCase):
    def test_says_that_there_is_no_gpu(self):
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", CROWD_REQUIRE_GPU="0")
        result = subprocess.run([sys.executable, HERE / "bench_gpu.py", sys.argv[1], "none"], capture_output=True,
                                text=True, env=environment)
        self.assertEqual(result.returncode, 77, result)
        self.assertTrue(re.fullmatch("skipped: .+\n", result.stdout), result)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
