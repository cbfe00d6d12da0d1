// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements in a pipeline of several streaming threads, while other threads set every property that may change while
// playing, read all of them, statistics included, ask and flush, and the pipeline stops and starts. Under
// ThreadSanitizer a data race fails it; without it, a crash or a pipeline that stands still does.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Random = std::minstd_rand;

/// Numbers stay within a range in which nothing takes long: a large capacity is a second to set aside.
struct Bounds {
  const char* property;
  double low, high;
};
constexpr Bounds usual = {nullptr, -200, 200};
/// Of crowddetect, which enlarges frames to find what is small.
constexpr Bounds narrow[] = {
    {"min-size", 96, 200}, {"win-stride", 8, 64}, {"padding", 0, 16}, {"scale-factor", 1.2, 4}};

Bounds bounds_of(const char* property) {
  const auto* found = std::find_if(std::begin(narrow), std::end(narrow),
                                   [property](const Bounds& it) { return g_str_equal(it.property, property); });
  return found == std::end(narrow) ? usual : *found;
}

struct UnrefObject {
  void operator()(gpointer object) const {
    gst_object_unref(object);
  }
};
template <typename T>
using ObjectRef = std::unique_ptr<T, UnrefObject>;

double between(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() - Random::min()) / (Random::max() - Random::min());
}

template <typename Number, typename Spec>
Number within(Random& random, const Spec* spec) {
  const Bounds bounds = bounds_of(spec->parent_instance.name);
  const double low = std::max(static_cast<double>(spec->minimum), bounds.low);
  const double high = std::min(static_cast<double>(spec->maximum), std::max(bounds.high, low));
  return static_cast<Number>(between(random, low, high));
}

/// A text that the element starts with.
const char* text_for(const GParamSpec* spec) {
  return g_str_equal(spec->name, "model-weights") ? "2,1,0.5" : "text";
}

/// A value that the property takes. False for types that no property had when this was written.
bool draw_value(Random& random, GParamSpec* spec, GValue* value) {
  g_value_init(value, spec->value_type);
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_value_set_enum(value, values->values[random() % values->n_values].value);
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(value, random() & 1);
  } else if (G_IS_PARAM_SPEC_INT(spec)) {
    g_value_set_int(value, within<gint>(random, G_PARAM_SPEC_INT(spec)));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    g_value_set_uint(value, within<guint>(random, G_PARAM_SPEC_UINT(spec)));
  } else if (G_IS_PARAM_SPEC_INT64(spec)) {
    g_value_set_int64(value, within<gint64>(random, G_PARAM_SPEC_INT64(spec)));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    g_value_set_uint64(value, within<guint64>(random, G_PARAM_SPEC_UINT64(spec)));
  } else if (G_IS_PARAM_SPEC_FLOAT(spec)) {
    g_value_set_float(value, within<gfloat>(random, G_PARAM_SPEC_FLOAT(spec)));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    g_value_set_double(value, within<gdouble>(random, G_PARAM_SPEC_DOUBLE(spec)));
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_value_set_static_string(value, random() & 1 ? text_for(spec) : nullptr);
  } else {
    return false;
  }
  return true;
}

/// What has to fit something else for the element to start is left alone.
bool is_set(const GParamSpec* spec) {
  return (spec->flags & G_PARAM_WRITABLE) && (spec->flags & GST_PARAM_MUTABLE_PLAYING) &&
         !g_str_has_prefix(spec->name, "paper-") && !g_str_equal(spec->name, "min-overlap");
}

std::vector<GParamSpec*> properties_of(GstElement* element) {
  guint count = 0;
  GParamSpec** all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::vector<GParamSpec*> own;
  std::copy_if(all, all + count, std::back_inserter(own),
               [element](const GParamSpec* spec) { return spec->owner_type == G_OBJECT_TYPE(element); });
  g_free(all);
  return own;
}

void set_and_get(Random& random, GstElement* element) {
  for (GParamSpec* spec : properties_of(element)) {
    if (is_set(spec)) {
      GValue value = G_VALUE_INIT;
      EXPECT_TRUE(draw_value(random, spec, &value)) << spec->name << " is of a type that draw_value() does not know";
      g_object_set_property(G_OBJECT(element), spec->name, &value);
      g_value_unset(&value);
    }
    if (spec->flags & G_PARAM_READABLE) {
      GValue value = G_VALUE_INIT;
      g_object_get_property(G_OBJECT(element), spec->name, &value);
      g_value_unset(&value);
    }
  }
}

class Threads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    gst_registry_fork_set_enabled(FALSE);
    gst_init(nullptr, nullptr);
    for (const char* name : {"coreelements", "videotestsrc"})
      load(std::filesystem::path(GST_PLUGINS) / ("libgst" + std::string(name) + ".so"));
    ASSERT_NE(g_getenv("CROWD_PLUGINS"), nullptr) << "set it to the folder of libgstcrowd.so";
    for (const char* name : {"libgstcrowd.so", "detect/libgstcrowdopencv.so"})
      load(std::filesystem::path(g_getenv("CROWD_PLUGINS")) / name);
  }

  static void TearDownTestSuite() {
    gst_deinit();
  }

  static void load(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file))
      return;
    GError* error = nullptr;
    GstPlugin* plugin = gst_plugin_load_file(file.c_str(), &error);
    ASSERT_NE(plugin, nullptr) << error->message;
    gst_object_unref(plugin);
  }

  void run(const std::string& description, const std::vector<const char*>& names) {
    GError* error = nullptr;
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(description.c_str(), &error))));
    ASSERT_EQ(error, nullptr) << error->message;
    ObjectRef<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    gst_bus_set_sync_handler(bus.get(), count_errors, this, nullptr);
    std::vector<ObjectRef<GstElement>> elements;
    for (const char* name : names)
      elements.emplace_back(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
    play(elements);
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    EXPECT_EQ(errors_, 0u);
  }

  // Of each element itself, since a pipeline asks only when it plays.
  static void ask(const std::vector<ObjectRef<GstElement>>& elements) {
    for (const auto& element : elements) {
      ObjectRef<GstPad> pad(gst_element_get_static_pad(element.get(), "src"));
      GstQuery* query = gst_query_new_latency();
      gst_pad_query(pad.get(), query);
      gst_query_unref(query);
      gst_pad_send_event(pad.get(), gst_event_new_reconfigure());
    }
  }

 private:
  static GstBusSyncReply count_errors(GstBus*, GstMessage* message, gpointer self) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      static_cast<Threads*>(self)->errors_++;
      print_error(message);
    }
    gst_message_unref(message);
    return GST_BUS_DROP;
  }

  static void print_error(GstMessage* message) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    g_printerr("%s: %s (%s)\n", GST_MESSAGE_SRC_NAME(message), error->message, debug);
    g_error_free(error);
    g_free(debug);
  }

  void play(const std::vector<ObjectRef<GstElement>>& elements) {
    std::atomic<bool> done = false;
    std::vector<std::thread> setters;
    for (unsigned seed = 1; seed <= 2; seed++)
      setters.emplace_back([&, seed] {
        Random random(seed);
        while (!done) {
          for (const auto& element : elements)
            set_and_get(random, element.get());
          ask(elements);
        }
      });
    for (int round = 0; round < 6; round++)
      play_for_a_while(round % 2 ? GST_STATE_PAUSED : GST_STATE_READY);
    done = true;
    for (std::thread& setter : setters)
      setter.join();
  }

  void play_for_a_while(GstState then) {
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    EXPECT_EQ(gst_element_get_state(pipeline_.get(), nullptr, nullptr, 60 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
    g_usleep(200'000);
    ObjectRef<GstElement> source(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "source"));
    EXPECT_TRUE(gst_element_seek_simple(source.get(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
    g_usleep(50'000);
    gst_element_set_state(pipeline_.get(), then);
  }

  ObjectRef<GstElement> pipeline_;
  std::atomic<unsigned> errors_ = 0;
};

TEST_F(Threads, change_settings_of_a_crowd_that_is_clustered_and_drawn) {
  run("videotestsrc name=source ! video/x-raw,format=I420,width=64,height=48,framerate=1000/1 ! crowdinject "
      "name=inject ! queue ! "
      "crowdnms name=nms min-overlap=0 ! queue ! crowdoverlay name=overlay ! fakesink sync=false",
      {"inject", "nms", "overlay"});
}

TEST_F(Threads, change_settings_of_delayed_frames) {
  run("videotestsrc name=source ! video/x-raw,format=I420,width=64,height=48,framerate=1000/1 ! crowdinject "
      "name=inject ! queue ! "
      "crowdnms name=nms min-overlap=0 output-delay=1 ! queue ! crowdoverlay name=overlay ! fakesink sync=false",
      {"inject", "nms", "overlay"});
}

// The copies of a tee share their metadata.
TEST_F(Threads, share_the_candidates_of_a_tee) {
  run("videotestsrc name=source ! video/x-raw,format=I420,width=64,height=48,framerate=1000/1 ! crowdinject "
      "name=inject ! tee name=t ! queue ! crowdnms name=one min-overlap=0 ! fakesink sync=false async=false "
      "t. ! queue ! crowdnms name=other min-overlap=0 ! fakesink sync=false async=false",
      {"inject", "one", "other"});
}

// A neighbour that answers in every state, as those in another bin may.
TEST_F(Threads, ask_for_the_latency_of_what_starts) {
  ObjectRef<GstElement> nms(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("crowdnms", nullptr))));
  ObjectRef<GstPad> neighbour(GST_PAD(gst_object_ref_sink(gst_pad_new("src", GST_PAD_SRC))));
  gst_pad_set_query_function(
      neighbour.get(), +[](GstPad*, GstObject*, GstQuery* query) -> gboolean {
        if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
          gst_query_set_latency(query, TRUE, 0, GST_CLOCK_TIME_NONE);
        return GST_QUERY_TYPE(query) == GST_QUERY_LATENCY;
      });
  ObjectRef<GstPad> sink(gst_element_get_static_pad(nms.get(), "sink"));
  gst_pad_set_active(neighbour.get(), TRUE);
  ASSERT_EQ(gst_pad_link(neighbour.get(), sink.get()), GST_PAD_LINK_OK);
  std::vector<ObjectRef<GstElement>> elements;
  elements.push_back(std::move(nms));
  std::atomic<bool> done = false;
  std::thread asker([&] {
    while (!done)
      ask(elements);
  });
  for (int i = 0; i < 1000; i++) {
    g_object_set(elements[0].get(), "output-delay", i % 2, nullptr);
    EXPECT_EQ(gst_element_set_state(elements[0].get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(gst_element_set_state(elements[0].get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  done = true;
  asker.join();
}

TEST_F(Threads, change_settings_of_a_search) {
  ObjectRef<GstElementFactory> factory(gst_element_factory_find("crowddetect"));
  if (!factory)
    GTEST_SKIP() << "no crowddetect: built without OpenCV";
  run("videotestsrc name=source ! video/x-raw,format=GRAY8,width=64,height=136,framerate=1000/1 ! crowddetect "
      "name=detect ! "
      "queue ! crowdnms name=nms min-overlap=0 ! fakesink sync=false",
      {"detect", "nms"});
}

}  // namespace
