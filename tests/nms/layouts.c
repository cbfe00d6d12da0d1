/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The sizes of the structs that bindings write down once more, and where their reserved fields begin, in bytes. */
#include "crowd/nms.h"

#include <stddef.h>
#include <stdio.h>

#define LAYOUT(name) \
  printf(#name " %u %u\n", (unsigned)sizeof(CrowdNms##name), (unsigned)offsetof(CrowdNms##name, reserved))

int main(void) {
  LAYOUT(Params);
  LAYOUT(Candidates);
  LAYOUT(Survivors);
  return 0;
}
