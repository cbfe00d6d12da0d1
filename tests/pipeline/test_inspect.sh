#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# gst-inspect-1.0 in meson devenv knows the elements, and crowdnms has the properties it is documented to have.
. "$(dirname "$0")/tap.sh"
unset GST_PLUGIN_PATH_1_0
export XDG_DATA_HOME=$work/data  # no presets that somebody saved

inspect() {
  meson devenv -C "$CROWD_BUILD" gst-inspect-1.0 "$1" >"$work/$1" && grep -q '^Element Properties' "$work/$1"
}

# elements: a line for each, with its name and its source.
elements() {
  (cd "$root" && grep -rE '^GST_ELEMENT_REGISTER_DEFINE' --include='*.cpp' gst-plugin) |
    sed -E 's/^([^:]*):GST_ELEMENT_REGISTER_DEFINE\((\w+).*/\2 \1/' | sort
}

# By its source, since an element that its plugin fails to register must not look like one that is not built.
inspect_where_built() {
  find "$CROWD_BUILD/gst-plugin" -name "*$(basename "$2").o" | grep . || { echo "no $1 in this build"; return 77; }
  inspect "$1"
}

has_elements() {
  [ "$(elements | wc -l)" -ge 5 ]
}

has_property() {
  sed -n '/^Element Properties/,$p' "$work/crowdnms" | grep -E "^  $1 +: [^ ]+ [^ ]+"
}

lists_presets() {
  local preset
  for preset in deepstream nnstreamer opencv paper torchvision ultralytics; do
    sed -n '/^Presets/,$p' "$work/crowdnms" | grep -E "^  \"$preset\": .*[.] Not the same: " ||
      { echo "no preset $preset, or none that says what it is"; return 1; }
  done
}

check "elements are found in the sources" has_elements
while read -r element source; do
  check "gst-inspect-1.0 $element" inspect_where_built "$element" "$source"
done < <(elements)
for property in method iou-threshold score-threshold metric comparator pixel-offset class-agnostic max-candidates \
  max-detections backend cuda-device-id meta-source meta-output mode post-messages stats sigma rule max-distance \
  min-overlap class-attrs class-filter merge cluster-score min-members models model-weights min-width \
  min-height max-width max-height; do
  check "crowdnms has $property, with a blurb" has_property "$property"
done
check "crowdnms has presets, and says what they are" lists_presets
finish
