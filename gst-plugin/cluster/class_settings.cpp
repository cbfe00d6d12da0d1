// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/class_settings.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cluster/setting_text.hpp"
#include "cluster/settings.hpp"

namespace crowd {

namespace {

ClassEntry entry_of(std::string_view name) {
  const std::string text(name);
  return {.name = text, .quark = g_quark_from_string(text.c_str()), .id = number_of<std::int32_t>(name)};
}

/// Reads "iou=0.6" or "score=0.3".
std::string read_attr(std::string_view text, ClassEntry& entry) {
  std::string_view value = text;
  const std::string_view key = take(value, '=');
  const auto number = number_of<double>(trimmed(value));
  if (key == "iou" && number && *number >= 0 && *number <= 1) {
    entry.overlap_threshold = *number;
  } else if (key == "score" && number && !std::isnan(*number)) {
    entry.score_threshold = float_not_below(*number);
  } else {
    return "class-attrs says " + quoted(text) + " of " + quoted(entry.name) +
           ", where iou=0 to 1 or score=NUMBER is expected";
  }
  return {};
}

bool has(const std::vector<ClassEntry>& entries, const ClassEntry& entry) {
  return std::ranges::find(entries, entry.quark, &ClassEntry::quark) != entries.end();
}

std::string read_attrs(std::string_view text, std::vector<ClassEntry>& entries) {
  while (!text.empty()) {
    std::string_view rest = take(text, ';');
    if (rest.empty())
      continue;
    const std::string_view name = take(rest, ',');
    if (name.empty() || name.find('=') != name.npos)
      return "class-attrs has no class before " + quoted(name) + ": write it as \"person,iou=0.6;car,score=0.3\"";
    ClassEntry entry = entry_of(name);
    if (has(entries, entry))
      return "class-attrs has " + quoted(name) + " twice";
    while (!rest.empty()) {
      if (std::string problem = read_attr(take(rest, ','), entry); !problem.empty())
        return problem;
    }
    entries.push_back(std::move(entry));
  }
  return {};
}

/// Leaves what the filter names, with the settings that there are for it.
std::string read_filter(std::string_view text, std::vector<ClassEntry>& entries) {
  std::vector<ClassEntry> listed;
  while (!text.empty()) {
    const std::string_view name = take(text, ',');
    if (name.empty())
      return "class-filter has an empty name: write it as \"person,car,3\"";
    ClassEntry entry = entry_of(name);
    if (has(listed, entry))
      return "class-filter has " + quoted(name) + " twice";
    const auto own = std::ranges::find(entries, entry.quark, &ClassEntry::quark);
    listed.push_back(own == entries.end() ? std::move(entry) : *own);
  }
  entries = std::move(listed);
  return {};
}

}  // namespace

std::shared_ptr<const ClassSettings> make_class_settings(const std::string& attrs, const std::string& filter) {
  if (trimmed(attrs).empty() && trimmed(filter).empty())
    return nullptr;
  auto settings = std::make_shared<ClassSettings>(ClassSettings{.attrs = attrs, .filter = filter});
  settings->problem = read_attrs(attrs, settings->entries);
  if (settings->problem.empty() && !trimmed(filter).empty())
    settings->problem = read_filter(filter, settings->entries);
  if (settings->entries.size() > CROWD_NMS_MAX_CLASS_SETTINGS)
    settings->problem = "class-attrs and class-filter have more than " + std::to_string(CROWD_NMS_MAX_CLASS_SETTINGS) +
                        " classes, name fewer";
  return settings;
}

/// Classes of one name may have several numbers. What there is no room for is left as all others are.
void ClassNumbers::add(const ClassEntry& entry, std::int32_t number) {
  const bool known = std::ranges::find(found_, number, &CrowdNmsClassSettings::label) != found_.end();
  if (!known && found_.size() < CROWD_NMS_MAX_CLASS_SETTINGS)
    found_.push_back({number, entry.score_threshold, entry.overlap_threshold});
}

void ClassNumbers::look_through_labels(const meta::BoxesInfo& info) {
  const guint count = labels_ ? labels_->len : 0;
  for (const ClassEntry& entry : settings_->entries) {
    bool found = false;
    for (guint i = 0; i < count; ++i) {
      if (g_strcmp0(entry.name.c_str(), static_cast<const char*>(g_ptr_array_index(labels_.get(), i))) != 0)
        continue;
      add(entry, static_cast<std::int32_t>(i));
      found = true;
    }
    if (entry.id && !found) {
      add(entry, *entry.id);
      found = *entry.id >= 0 && static_cast<guint>(*entry.id) < count;
    }
    if (!found && count && info.labels_are_all && unknown_.empty())
      unknown_ = entry.name;
  }
}

void ClassNumbers::look_through_names(const meta::Candidates& candidates) {
  for (const ClassEntry& entry : settings_->entries) {
    for (std::size_t i = 0; i < candidates.names.size(); ++i) {
      if (candidates.names[i] == entry.quark)
        add(entry, candidates.classes[i]);
    }
    if (entry.id)
      add(entry, *entry.id);
  }
}

void ClassNumbers::apply(const std::shared_ptr<const ClassSettings>& settings, const meta::Candidates& candidates,
                         CrowdNmsParams& params) {
  if (!settings)
    return;
  GPtrArray* const labels = candidates.info.labels;
  if (settings != settings_ || labels != labels_.get() || !candidates.names.empty()) {
    settings_ = settings;
    labels_.reset(labels ? g_ptr_array_ref(labels) : nullptr);
    found_.clear();
    unknown_.clear();
    if (candidates.names.empty())
      look_through_labels(candidates.info);
    else
      look_through_names(candidates);
  }
  params.listed_only = !trimmed(settings->filter).empty();
  params.class_count = static_cast<std::uint32_t>(found_.size());
  std::ranges::copy(found_, params.class_settings);
}

}  // namespace crowd
