#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what libcrowdtrace.so counted against what the path on the device promises: after the first frames nothing
crosses to the host or back but the film itself, and our elements launch graphs that they have, and neither wait nor
allocate. Exit status 1: that does not hold.

usage: check_trace.py TRACE.json [--decoder NAME,NAME] [--stream-bytes N]
"""

import argparse
import collections
import json
import pathlib
import sys

Check = collections.namedtuple("Check", "holds claim seen")
OURS = "ours"
COLUMNS = [("launches", lambda c: c["launches"] + c["graph_launches"]),
           ("up, bytes", lambda c: c["copies"]["host_to_device"]["bytes"]),
           ("down, bytes", lambda c: c["copies"]["device_to_host"]["bytes"]),
           ("on device, bytes", lambda c: c["copies"]["device_to_device"]["bytes"]),
           ("memsets", lambda c: c["memsets"]),
           ("waits", lambda c: c["synchronising"]),
           ("queries", lambda c: c["queries"]),
           ("allocations", lambda c: c["allocations"]["calls"]),
           ("frees", lambda c: c["frees"]),
           ("streams, events", lambda c: c["streams"] + c["events"]),
           ("graphs made", lambda c: c["graphs"])]


def copied(counts, *directions):
    """Calls and bytes."""
    return tuple(sum(counts["copies"][d][what] for d in directions) for what in ("calls", "bytes"))


def checks(window, decoders, stream_bytes):
    """What has to hold in the steady window."""
    frames, callers, total = window["frames"], window["callers"], window["total"]
    yield Check(frames > 0, "there are frames after the start", f"{frames} frames")
    ours = callers.get(OURS)
    yield Check(ours is not None and ours["launches"] > 0, "our elements launch kernels",
                f"{ours['launches'] if ours else 0} launches")
    if ours:
        yield Check(ours["graph_launches"] > 0, "our elements launch graphs", f"{ours['graph_launches']} launches")
        for name, directions in [("host to device", ["host_to_device"]), ("device to host", ["device_to_host"]),
                                 ("to or from memory of an unknown kind", ["unknown", "host_to_host"])]:
            calls, size = copied(ours, *directions)
            yield Check(calls == 0, f"our elements copy nothing {name}", f"{calls} copies, {size} bytes")
        for name, calls in [("allocate nothing", ours["allocations"]["calls"]),
                            ("create no streams and events", ours["streams"] + ours["events"]),
                            ("record no graphs", ours["graphs"]),
                            ("do not wait", ours["synchronising"])]:
            yield Check(calls == 0, f"our elements {name}", f"{calls} calls")
    calls, size = copied(total, "device_to_host")
    yield Check(calls == 0, "nothing copies device to host", f"{calls} copies, {size} bytes")
    others = [copied(counts, "host_to_device") for name, counts in callers.items() if name not in decoders]
    calls, size = (sum(column) for column in zip((0, 0), *others))
    yield Check(calls == 0, "only the decoder copies host to device", f"{calls} copies, {size} bytes")
    film = sum(copied(callers[name], "host_to_device")[1] for name in decoders if name in callers)
    per_frame = film / frames if frames else 0
    yield Check(per_frame <= stream_bytes, "what the decoder copies to the device is no picture",
                f"{per_frame:.0f} bytes a frame, at most {stream_bytes}")


def table(window):
    """Averages per frame, a line for each caller."""
    frames = max(window["frames"], 1)
    rows = [["a frame"] + [name for name, _ in COLUMNS]]
    for name, counts in [*sorted(window["callers"].items()), ("all", window["total"])]:
        rows.append([name] + [f"{count(counts) / frames:.6g}" for _, count in COLUMNS])
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)


def details(window):
    """Kernels per frame, then what each caller called and from where."""
    frames = max(window["frames"], 1)
    for kernel, launches in sorted(window["kernels"].items(), key=lambda item: -item[1]):
        yield f"{launches / frames:8.3g}  {kernel}"
    for name, counts in sorted(window["callers"].items()):
        for function, places in sorted(counts["functions"].items()):
            for place, calls in sorted(places.items(), key=lambda item: -item[1]):
                yield f"{calls / frames:8.3g}  {name}: {function} from {place}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--decoder", default="nvcodec,nvcuvid", help="callers that may copy the film to the device")
    parser.add_argument("--stream-bytes", type=int, default=100_000,
                        help="most bytes of film a frame; a small NV12 picture of 768x576 has 663552")
    options = parser.parse_args()
    try:
        window = json.loads(options.trace.read_text())["windows"]["steady"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"check_trace.py: no trace in {options.trace}: {problem!r}", file=sys.stderr)
        return 1
    print(f"{window['frames']} frames after the start", table(window), "", *details(window), "", sep="\n")
    found = list(checks(window, options.decoder.split(","), options.stream_bytes))
    for check in found:
        print(f"{'ok    ' if check.holds else 'FAILED'} {check.claim}: {check.seen}")
    return 0 if all(check.holds for check in found) else 1


if __name__ == "__main__":
    sys.exit(main())
