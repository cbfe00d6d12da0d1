# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What gst-crowd-eval is made of: reading, joining, matching, a file for each family of metrics, the command line."""
