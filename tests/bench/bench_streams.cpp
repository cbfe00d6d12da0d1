// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * Detectors on several streams of a film at once, from the decoder to the drawn box, in one process: frames a second in
 * all, what that is for a frame, candidates and survivors of a frame, and what NMS takes of it. A markdown table.
 *
 *     bench_streams [--streams 1,8,32] [--seconds 1.5] [--decode ELEMENTS] SIZE=FILM... [NAME=ELEMENTS...]
 *
 * FILM is a raw H.264 stream (Annex B, a name that ends in 264), which begins anew at its end; SIZE names it:
 *
 *     gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! videoscale ! \
 *       video/x-raw,format=I420,width=1920,height=1080 ! x264enc pass=quant quantizer=30 key-int-max=50 bframes=0 ! \
 *       h264parse ! video/x-h264,stream-format=byte-stream ! filesink location=1080p.h264
 *
 * ELEMENTS of a NAME stand between the decoded frames and crowdnms, those of --decode in front of them; HOG, person-net
 * with 1x1, 2x2 and 3x3 tiles and face-net unless given, of models in ONNX that pipelines/convert-model person-net and
 * pipelines/fetch-model face-net have left where crowddetect looks for them. Below the table is what each name stands
 * for. A rate is taken between two moments at which all
 * streams stand still and the device has done all it was given, after a warm-up. `start` is the time until all streams
 * have their first frame: networks are loaded then, but for those that the row before has left loaded.
 */

#include <cuda_runtime.h>
#include <gst/gst.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gpu/device.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds warm_up{500};
constexpr std::chrono::seconds patience{120};  // for the first frame, and for a frame

[[noreturn]] void fail(const std::string& problem) {
  std::fprintf(stderr, "bench_streams: %s\n", problem.c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Where frames of all streams come by.
class Gate {
 public:
  explicit Gate(unsigned streams) : streams_(streams) {}

  void pass() {
    std::unique_lock lock(mutex_);
    frames_++;
    waiting_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    waiting_--;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  /// Whether all streams stand before the closed gate.
  bool wait(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return waiting_ == streams_; });
  }
  unsigned long frames() {
    const std::lock_guard lock(mutex_);
    return frames_;
  }

 private:
  const unsigned streams_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  unsigned waiting_ = 0;
  unsigned long frames_ = 0;
};

struct Rate {
  double start = 0, fps = 0;
};

class Streams {
 public:
  Streams(const std::string& one, unsigned count) : gate_(count) {
    std::string all;
    for (unsigned i = 0; i < count; i++)
      all += one + " ! fakesink sync=false signal-handoffs=true ";
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(all.c_str(), &error);
    if (error)
      fail(one + ": " + error->message);
    for_each("fakesink", [this](GstElement* sink) { g_signal_connect(sink, "handoff", G_CALLBACK(take), this); });
  }
  ~Streams() {
    gate_.open();
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    if (memory_)
      gst_memory_unref(memory_);
    gst_object_unref(pipeline_);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Rate measure(std::chrono::duration<double> length) {
    Rate rate;
    const auto start = Clock::now();
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    stand_still();
    rate.start = seconds_since(start);
    run_for(warm_up);
    const auto before = gate_.frames();
    const auto begin = Clock::now();
    run_for(length);
    rate.fps = static_cast<double>(gate_.frames() - before) / seconds_since(begin);
    return rate;
  }

  /// Sums over all streams of a number in crowdnms' statistics.
  double stat(const char* name) {
    double sum = 0;
    for_each("crowdnms", [&sum, name](GstElement* element) {
      GstStructure* stats = nullptr;
      g_object_get(element, "stats", &stats, nullptr);
      guint64 value = 0;
      if (stats && gst_structure_get_uint64(stats, name, &value))
        sum += static_cast<double>(value);
      gst_clear_structure(&stats);
    });
    return sum;
  }

 private:
  static void take(GstElement*, GstBuffer* buffer, GstPad*, gpointer data) {
    auto* self = static_cast<Streams*>(data);
    {
      const std::lock_guard lock(self->mutex_);
      if (!self->memory_ && gst_buffer_n_memory(buffer) > 0)
        self->memory_ = gst_memory_ref(gst_buffer_peek_memory(buffer, 0));
    }
    self->gate_.pass();
  }

  template <typename Call>
  void for_each(const char* factory, Call call) {
    GstIterator* elements = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline_), factory);
    GValue item = G_VALUE_INIT;
    while (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
      call(GST_ELEMENT(g_value_get_object(&item)));
      g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
  }

  void fail_on_error() {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message = gst_bus_pop_filtered(bus, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
    gst_object_unref(bus);
    if (!message)
      return;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
      fail("a film has ended");
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    fail(error->message);
  }

  /// All streams wait, and the device has nothing to do.
  void stand_still() {
    const auto begin = Clock::now();
    while (!gate_.wait(std::chrono::milliseconds(100))) {
      fail_on_error();
      if (Clock::now() - begin > patience)
        fail("a stream has no frame for two minutes");
    }
    const std::lock_guard lock(mutex_);
    if (!crowd::is_on_device(memory_) || !crowd::push_context_of(memory_))
      return;
    const cudaError_t error = cudaDeviceSynchronize();
    crowd::pop_context();
    if (error != cudaSuccess)
      fail(cudaGetErrorString(error));
  }

  void run_for(std::chrono::duration<double> length) {
    gate_.open();
    std::this_thread::sleep_for(length);
    gate_.close();
    stand_still();
  }

  Gate gate_;
  GstElement* pipeline_ = nullptr;
  std::mutex mutex_;
  GstMemory* memory_ = nullptr;  ///< of a frame, for its context
};

struct Options {
  std::vector<unsigned> streams = {1, 8, 32};
  double seconds = 1.5;
  std::string decode = "h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory)";
  std::vector<std::pair<std::string, std::string>> films, detectors;
};

const std::string clustering = "crowdnms metric=ios iou-threshold=0.6 ! crowdoverlay";
const std::string network = "crowddetect score-threshold=0.2 detector=";
const std::vector<std::pair<std::string, std::string>> usual_detectors = {
    {"HOG", "crowddetect"},
    {"person-net, 1 tile", network + "person-net"},
    {"person-net, 2x2", network + "person-net tiles=2x2"},
    {"person-net, 3x3", network + "person-net tiles=3x3"},
    {"face-net", network + "face-net"},
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const bool option = word.starts_with("--");
    if (option && i + 1 == argc)
      fail(word + " wants a value");
    if (word == "--streams") {
      options.streams.clear();
      std::istringstream numbers(argv[++i]);
      for (std::string number; std::getline(numbers, number, ',');)
        options.streams.push_back(static_cast<unsigned>(std::strtoul(number.c_str(), nullptr, 10)));
    } else if (word == "--seconds") {
      options.seconds = std::strtod(argv[++i], nullptr);
    } else if (word == "--decode") {
      options.decode = argv[++i];
    } else if (const auto equals = word.find('='); !option && equals != word.npos) {
      const std::string value = word.substr(equals + 1);
      const bool film = value.find(' ') == value.npos && value.ends_with("264");
      (film ? options.films : options.detectors).emplace_back(word.substr(0, equals), value);
    } else {
      fail(
          "usage: bench_streams [--streams 1,8,32] [--seconds 1.5] [--decode ELEMENTS] SIZE=FILM.h264... "
          "[NAME=ELEMENTS...]");
    }
  }
  if (options.films.empty())
    fail("there is no film");
  if (options.detectors.empty())
    options.detectors = usual_detectors;
  return options;
}

/// Seconds that NMS takes of a frame, by crowdnms' own clocks.
double nms_seconds(Streams& streams) {
  const double timed = streams.stat("device-frames-timed");
  return 1e-9 * (timed > 0 ? streams.stat("device-time") / timed : streams.stat("nms-time") / streams.stat("frames"));
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const Options options = read_options(argc, argv);
  std::puts(
      "| size | detector | streams | start, s | frames/s | ms a frame | candidates | survivors | NMS us | NMS % |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|");
  std::unique_ptr<Streams> last;  // keeps its network loaded
  for (const auto& [name, elements] : options.detectors) {
    for (const auto& [size, film] : options.films) {
      for (const unsigned count : options.streams) {
        auto streams = std::make_unique<Streams>(
            "multifilesrc loop=true location=" + film + " ! " + options.decode + " ! " + elements + " ! " + clustering,
            count);
        const Rate rate = streams->measure(std::chrono::duration<double>(options.seconds));
        const double nms = nms_seconds(*streams), frames = streams->stat("frames");
        std::printf("| %s | %s | %u | %.1f | %.0f | %.2f | %.1f | %.1f | %.1f | %.2f |\n", size.c_str(), name.c_str(),
                    count, rate.start, rate.fps, 1e3 / rate.fps, streams->stat("candidates") / frames,
                    streams->stat("survivors") / frames, 1e6 * nms, 100 * nms * rate.fps);
        std::fflush(stdout);
        last = std::move(streams);
      }
    }
  }
  std::printf("\nmultifilesrc loop=true ! %s ! NAME ! %s ! fakesink sync=false, where NAME is\n\n",
              options.decode.c_str(), clustering.c_str());
  for (const auto& [name, elements] : options.detectors)
    std::printf("* %s: `%s`\n", name.c_str(), elements.c_str());
}
