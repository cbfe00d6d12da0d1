// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where files lie that come with this plugin or with others. Header only.
#pragma once

#include <glib.h>

#include <filesystem>
#include <string>
#include <vector>

namespace crowd {

inline bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// The data folders of the system, XDG_DATA_DIRS, and in each of them what is `below`.
inline std::vector<std::filesystem::path> system_data_folders(const std::filesystem::path& below) {
  std::vector<std::filesystem::path> folders;
  for (const gchar* const* folder = g_get_system_data_dirs(); *folder; folder++)
    folders.push_back(*folder / below);
  return folders;
}

/// The same behind the user's data folder.
inline std::vector<std::filesystem::path> data_folders(const std::filesystem::path& below) {
  std::vector<std::filesystem::path> folders = system_data_folders(below);
  folders.insert(folders.begin(), g_get_user_data_dir() / below);
  return folders;
}

}  // namespace crowd
