// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "ledger.hpp"

#include <cxxabi.h>
#include <json-glib/json-glib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>

namespace crowd::trace {
namespace {

struct Tally {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
};

/// What one caller did, or all.
struct Sum {
  std::array<Tally, kinds> by_kind = {};
  std::array<Tally, directions> copies = {};
  std::map<std::string_view, std::map<std::string_view, std::uint64_t>> functions = {};
};

constexpr std::array<const char*, directions> direction_names = {"host_to_device", "device_to_host", "device_to_device",
                                                                 "host_to_host",   "peer",           "unknown"};

constexpr std::pair<const char*, Kind> counted[] = {
    {"launches", Kind::launch},     {"graph_launches", Kind::graph_launch},
    {"memsets", Kind::memset},      {"synchronising", Kind::synchronise},
    {"queries", Kind::query},       {"allocations", Kind::allocate},
    {"frees", Kind::release},       {"streams", Kind::create_stream},
    {"events", Kind::create_event}, {"graphs", Kind::create_graph},
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return text ? text.get() : name;
}

}  // namespace

class Ledger::Writer {
 public:
  std::string write(const Ledger& ledger) {
    begin();
    text("frame_kernel", ledger.frame_kernel_);
    number("start_frames", ledger.start_frames_);
    begin("windows");
    window("start", ledger.start_);
    window("steady", ledger.steady_);
    window("stop", ledger.since_frame_);
    end();
    times(ledger.times_);
    end();
    const std::unique_ptr<JsonNode, decltype(&json_node_unref)> root(json_builder_get_root(builder_.get()),
                                                                     json_node_unref);
    const std::unique_ptr<char, decltype(&g_free)> written(json_to_string(root.get(), TRUE), g_free);
    return std::string(written.get()) + "\n";
  }

 private:
  void begin(const std::string& name = {}) {
    if (!name.empty())
      json_builder_set_member_name(builder_.get(), name.c_str());
    json_builder_begin_object(builder_.get());
  }

  void end() {
    json_builder_end_object(builder_.get());
  }

  void number(const std::string& name, std::uint64_t value) {
    json_builder_set_member_name(builder_.get(), name.c_str());
    json_builder_add_int_value(builder_.get(), static_cast<gint64>(value));
  }

  void text(const std::string& name, const std::string& value) {
    json_builder_set_member_name(builder_.get(), name.c_str());
    json_builder_add_string_value(builder_.get(), value.c_str());
  }

  void tally(const char* name, const Tally& tally) {
    begin(name);
    number("calls", tally.calls);
    number("bytes", tally.bytes);
    end();
  }

  void sum(const std::string& name, const Sum& sum) {
    begin(name);
    for (const auto& [key, kind] : counted) {
      const Tally& found = sum.by_kind[static_cast<std::size_t>(kind)];
      if (kind == Kind::allocate)
        tally(key, found);
      else
        number(key, found.calls);
    }
    begin("copies");
    for (std::size_t i = 0; i < directions; i++)
      tally(direction_names[i], sum.copies[i]);
    end();
    begin("functions");
    for (const auto& [function, places] : sum.functions) {
      begin(std::string(function));
      for (const auto& [where, calls] : places)
        number(std::string(where), calls);
      end();
    }
    end();
    end();
  }

  void window(const std::string& name, const Window& window) {
    Sum total;
    std::map<std::string, Sum> callers;
    for (const auto& [key, entry] : window.entries) {
      const std::string caller = key.place->caller.empty() ? "other" : key.place->caller;
      for (Sum* sum : {&total, &callers[caller]})
        count(*sum, key, entry);
    }
    begin(name);
    number("frames", window.frames);
    sum("total", total);
    begin("callers");
    for (const auto& [caller, found] : callers)
      sum(caller, found);
    end();
    begin("kernels");
    for (const auto& [kernel, launches] : window.kernels)
      number(demangled(kernel), launches);
    end();
    end();
  }

  void times(const decltype(Ledger::times_)& times) {
    // Names in anonymous namespaces of different files become the same.
    std::map<std::string, std::vector<std::uint64_t>> kernels;
    std::map<std::string, std::uint64_t> alone;
    std::vector<Launch> launches;
    for (const auto& [kernel, spans] : times) {
      const std::string name = demangled(kernel);
      for (const Span& span : spans) {
        kernels[name].push_back(span.end - span.start);
        launches.push_back({span, &alone[name]});
      }
    }
    add_times_alone(launches);
    begin("device_times");
    for (auto& [kernel, found] : kernels) {
      std::ranges::sort(found);
      begin(kernel);
      number("launches", found.size());
      number("total_ns", std::accumulate(found.begin(), found.end(), std::uint64_t{0}));
      number("alone_ns", alone[kernel]);
      number("min_ns", found.front());
      number("median_ns", found[found.size() / 2]);
      number("max_ns", found.back());
      end();
    }
    end();
  }

  struct Launch {
    Span span;
    std::uint64_t* alone;  ///< of its kernel
  };

  /// Adds up how long each kernel ran while none ran that began before it in its stream. A kernel may wait there for
  /// the one before.
  static void add_times_alone(std::vector<Launch>& launches) {
    std::ranges::stable_sort(launches, {}, [](const Launch& launch) { return launch.span.start; });
    std::map<std::uint32_t, std::uint64_t> ends;
    for (const auto& [span, alone] : launches) {
      std::uint64_t& before = ends[span.stream];
      *alone += span.end - std::clamp(before, span.start, span.end);
      before = std::max(before, span.end);
    }
  }

  static void count(Sum& sum, const Key& key, const Entry& entry) {
    Tally& kind = sum.by_kind[static_cast<std::size_t>(entry.call.kind)];
    kind.calls += entry.calls;
    kind.bytes += entry.bytes;
    if (entry.call.kind == Kind::copy) {
      Tally& copies = sum.copies[static_cast<std::size_t>(key.direction)];
      copies.calls += entry.calls;
      copies.bytes += entry.bytes;
    }
    if (entry.call.waits)
      sum.by_kind[static_cast<std::size_t>(Kind::synchronise)].calls += entry.calls;
    sum.functions[key.function][key.place->where] += entry.calls;
  }

  std::unique_ptr<JsonBuilder, decltype(&g_object_unref)> builder_{json_builder_new(), g_object_unref};
};

void Ledger::Window::take(Window& other) {
  frames += other.frames;
  for (const auto& [key, entry] : other.entries) {
    Entry& mine = entries[key];
    mine.call = entry.call;
    mine.calls += entry.calls;
    mine.bytes += entry.bytes;
  }
  for (const auto& [kernel, launches] : other.kernels)
    kernels[kernel] += launches;
  other = {};
}

Ledger::Ledger(std::string frame_kernel, std::uint64_t start_frames)
    : frame_kernel_(std::move(frame_kernel)), start_frames_(start_frames) {}

void Ledger::add(const Event& event, const Place& place) {
  Entry& entry = since_frame_.entries[{event.function, &place, event.call.direction}];
  entry.call = event.call;
  entry.calls++;
  entry.bytes += event.bytes;
  if (event.call.kind != Kind::launch)
    return;
  since_frame_.kernels[std::string(event.kernel)]++;
  if (event.kernel.find(frame_kernel_) == std::string_view::npos)
    return;
  since_frame_.frames = 1;
  (start_.frames < start_frames_ ? start_ : steady_).take(since_frame_);
}

void Ledger::add_time(std::string_view kernel, const Span& span) {
  times_[std::string(kernel)].push_back(span);
}

std::string Ledger::as_json() const {
  return Writer().write(*this);
}

}  // namespace crowd::trace
