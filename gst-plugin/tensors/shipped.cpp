// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/shipped.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

#include "base/datafiles.hpp"
#include "tensors/textfile.hpp"

#ifndef CROWD_LAYOUTS_DIR
#error "tensors/meson.build says where descriptions are installed"
#endif

namespace crowd::tensors {

namespace {

constexpr char ending[] = ".modelinfo", below_data[] = "gst-crowd/layouts";

std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> found;
  if (const char* own = std::getenv("GST_CROWD_LAYOUTS"); own && *own)
    found.emplace_back(own);
  std::ranges::copy(data_folders(below_data), std::back_inserter(found));
  found.emplace_back(CROWD_LAYOUTS_DIR);
  return found;
}

std::string names_there_are() {
  std::string list;
  for (const std::string& name : description_names())
    list += (list.empty() ? "" : ", ") + shortened(name);
  return list.empty() ? "none are installed; set GST_CROWD_LAYOUTS to the folder of descriptions"
                      : "there are: " + list;
}

}  // namespace

std::set<std::string> description_names() {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : folders()) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ending)
        names.insert(entry->path().stem().string());
  }
  return names;
}

std::string find_description(const std::string& name, std::string& problem) {
  if (name.find('/') != name.npos || name.ends_with(ending)) {
    if (is_file(name))
      return name;
    problem = "there is no description " + shortened(name) + ": check the path";
    return {};
  }
  for (const std::filesystem::path& folder : folders())
    if (const auto path = folder / (name + ending); !name.empty() && is_file(path))
      return path.string();
  problem = "there is no description of the name " + shortened(name) + "; " + names_there_are();
  return {};
}

}  // namespace crowd::tensors
