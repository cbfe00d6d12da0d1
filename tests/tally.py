#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Counts the test cases in a folder of results: `NAME.json` and `NAME.junit.xml` of each run of meson test, and
`steps`, a line `OK|FAIL|SKIP name` each. Prints what failed, then `N passed, N failed, N skipped`; the exit status is 1
if something failed or nothing passed.

JUnit has the single cases, but not that a test crashed, timed out or leaked after its last case: that is in the JSON.
"""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

BAD = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}
GOOD = {"OK", "EXPECTEDFAIL"}


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def cases_of_suites(path):
    """Outcomes of the single cases, by the name of the JUnit suite: project.test or project.test.gtest_suite."""
    cases = collections.defaultdict(list)
    if path.exists():
        for suite in ElementTree.parse(path).iter("testsuite"):
            if "." in suite.get("name"):
                cases[suite.get("name")] += [(case.get("name"), outcome(case)) for case in suite.findall("testcase")]
    return cases


def cases_of_test(name, suites):
    for suite, cases in suites.items():
        test = suite.split(".", 1)[1]
        if test == name or test.startswith(name + "."):
            for case, result in cases:
                yield f"{test}: {case}", result


def count_run(path):
    """Yields (name, outcome) of every case of a run."""
    suites = cases_of_suites(path.with_suffix(".junit.xml"))
    for line in path.read_text().splitlines():
        test = json.loads(line)
        result = test["result"]
        cases = list(cases_of_test(test["name"], suites))
        yield from cases
        if result in BAD and not any(outcome == "failed" for _, outcome in cases):
            yield test["name"], "failed"
        elif not cases:
            yield test["name"], "passed" if result in GOOD else "skipped"


def count_steps(path):
    words = {"OK": "passed", "FAIL": "failed", "SKIP": "skipped"}
    for line in path.read_text().splitlines():
        word, name = line.split(" ", 1)
        yield name, words[word]


def main(folder):
    counts = collections.Counter()
    for path in sorted(folder.glob("*.json")) + sorted(folder.glob("steps")):
        for name, result in count_steps(path) if path.name == "steps" else count_run(path):
            counts[result] += 1
            if result == "failed":
                print(f"failed in {path.stem}: {name}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 0 if counts["failed"] == 0 and counts["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
