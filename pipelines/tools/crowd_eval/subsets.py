# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Subsets of people by height and by visible share, as benchmarks of pedestrians name them."""

import dataclasses

import numpy as np

INF = float("inf")
MARGIN = 1.25  # detections count if they are within the heights of the subset, widened by this factor


@dataclasses.dataclass(frozen=True)
class Subset:
    heights: tuple  # pixels
    visible: tuple  # shares
    closed: bool  # whether the upper ends belong to it

    def excludes(self, truth):
        """Which objects need not be found."""
        height = truth.box[:, 3]
        beyond = np.greater if self.closed else np.greater_equal
        return (height < self.heights[0]) | beyond(height, self.heights[1]) | \
            (truth.visible < self.visible[0]) | beyond(truth.visible, self.visible[1])

    def admits(self, box):
        """Which detections count."""
        return (box[:, 3] >= self.heights[0] / MARGIN) & (box[:, 3] < self.heights[1] * MARGIN)


CALTECH = {
    "reasonable": Subset((50, INF), (.65, INF), False),
    "all": Subset((20, INF), (.2, INF), False),
    "partial": Subset((50, INF), (.65, 1), False),
    "heavy": Subset((50, INF), (.2, .65), False),
}
CITYPERSONS = {
    "reasonable": Subset((50, INF), (.65, INF), True),
    "small": Subset((50, 75), (.65, INF), True),
    "heavy": Subset((50, INF), (.2, .65), True),
    "all": Subset((20, INF), (.2, INF), True),
    "bare": Subset((50, INF), (.9, INF), True),
    "partial": Subset((50, INF), (.65, .9), True),
}
