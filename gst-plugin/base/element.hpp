// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The skeleton of an element: a base transform that works in place, with settings, the property "stats" and a state
// that lives from start to stop. An element NAME is
//
//   struct GstCrowdNameImpl : crowd::ElementImpl<GstCrowdName, Settings, Stats, State> { ... };
//   struct _GstCrowdName { GstBaseTransform parent; GstCrowdNameImpl* impl; };
//   using Base = crowd::ElementBase<GstCrowdName>;
//
// with Base::class_init() and Base::init() called in those functions of its type, and the other virtual functions of
// GstBaseTransformClass set beside them. Header only, for every plugin.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/properties.hpp"
#include "base/transform.hpp"

namespace crowd {

/// What an element keeps. A derived struct, Impl, has
///
///   static const PropertyTable<Settings>& properties();
///   static std::unique_ptr<State> open(Object* self, const Settings& settings);
///
/// open() makes the state of a run; null if the element cannot work, why has been posted. Impl may hide close() and
/// stats_structure(), and may have a constructor that takes the GstBaseTransform*.
template <typename ObjectType, typename SettingsType, typename StatsType, typename StateType>
struct ElementImpl {
  using Object = ObjectType;
  using Settings = SettingsType;
  using Stats = StatsType;
  using State = StateType;

  Settings settings;             ///< under the object lock
  Stats stats;                   ///< under the object lock; new at each start
  std::unique_ptr<State> state;  ///< from start to stop, of the streaming thread

  /// Ends a run, before its state goes.
  static void close(Object*, State&) {}

  /// The value of "stats". Any thread, without the object lock.
  static GstStructure* stats_structure(Object* self) {
    GST_OBJECT_LOCK(self);
    const Stats stats = self->impl->stats;
    GST_OBJECT_UNLOCK(self);
    return stats.structure();
  }
};

/// Pads for video of any format in any memory, and for `more`, as caps in text.
inline void add_any_video_templates(gpointer klass, const char* more = nullptr) {
  GstCaps* caps = gst_caps_from_string("video/x-raw(ANY)");
  if (more)
    gst_caps_append(caps, gst_caps_from_string(more));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

/// What gst-inspect-1.0 shows of an element.
struct ElementDescription {
  const char* name;
  const char* classification;
  const char* description;
  const char* stats;  ///< what is in its statistics
};

template <typename Object>
class ElementBase {
 public:
  using Impl = std::remove_pointer_t<decltype(Object::impl)>;
  using Settings = typename Impl::Settings;

  static Settings copy_settings(Object* self) {
    GST_OBJECT_LOCK(self);
    Settings settings = self->impl->settings;
    GST_OBJECT_UNLOCK(self);
    return settings;
  }

  /// "stats" gets the id after those of the settings.
  static void class_init(gpointer klass, const ElementDescription& description) {
    auto* object_class = G_OBJECT_CLASS(klass);
    object_class->set_property = set_property;
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    Impl::properties().install(object_class);
    g_object_class_install_property(object_class, Impl::properties().size() + 1,
                                    g_param_spec_boxed("stats", "Statistics", description.stats, GST_TYPE_STRUCTURE,
                                                       GParamFlags(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
    gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), description.name, description.classification,
                                          description.description, "gst-crowd authors");
    auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
    transform_class->start = start;
    transform_class->stop = stop;
    transform_class->before_transform = sync_controlled_properties;
    transform_class->passthrough_on_same_caps = FALSE;
  }

  static void init(Object* self) {
    auto* transform = GST_BASE_TRANSFORM(self);
    if constexpr (std::constructible_from<Impl, GstBaseTransform*>)
      self->impl = new Impl(transform);
    else
      self->impl = new Impl;
    gst_base_transform_set_qos_enabled(transform, FALSE);
    explain_refused_caps(transform);
  }

  /// For an element that does more when a property is set.
  static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    Object* self = cast(object);
    GST_OBJECT_LOCK(self);
    const bool known = Impl::properties().set(self->impl->settings, id, value);
    GST_OBJECT_UNLOCK(self);
    if (!known)
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }

 private:
  static Object* cast(gpointer instance) {
    return static_cast<Object*>(instance);
  }

  static void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
    Object* self = cast(object);
    GST_OBJECT_LOCK(self);
    const bool known = Impl::properties().get(self->impl->settings, id, value);
    GST_OBJECT_UNLOCK(self);
    if (!known)
      g_value_take_boxed(value, Impl::stats_structure(self));
  }

  static gboolean start(GstBaseTransform* transform) {
    Object* self = cast(transform);
    GST_OBJECT_LOCK(self);
    const Settings settings = self->impl->settings;
    self->impl->stats = {};
    GST_OBJECT_UNLOCK(self);
    self->impl->state = Impl::open(self, settings);
    return self->impl->state != nullptr;
  }

  static gboolean stop(GstBaseTransform* transform) {
    Object* self = cast(transform);
    Impl::close(self, *self->impl->state);
    self->impl->state.reset();
    return TRUE;
  }

  static void finalize(GObject* object) {
    delete cast(object)->impl;
    G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM))->finalize(object);
  }
};

}  // namespace crowd
