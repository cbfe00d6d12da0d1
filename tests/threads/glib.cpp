// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tells ThreadSanitizer what the locks and reference counts of GLib and GStreamer order. These libraries are built
// without it and lock with futexes and atomics of their own, which it cannot see: each access under a GMutex would look
// like a race. Linked into a program, these functions come before those of the libraries, for plugins too, and call
// them.

#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

#include <atomic>
#include <cstdlib>
#include <iterator>

namespace {

/// The library's own function of that name. Found when it is first called, which may be before main().
template <typename Function>
class Real {
 public:
  explicit constexpr Real(const char* name) : name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    Function* function = function_.load(std::memory_order_relaxed);
    if (!function) {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      if (!function)
        std::abort();
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> function_ = nullptr;
};

// A reference that is dropped orders what was done with the object before the last is dropped.
void drop(void* object) {
  __tsan_release(object);
  __tsan_acquire(object);
}

/// A thread pool's function. What a task is about was written before it was pushed.
struct Tasks {
  GFunc function;
  gpointer user_data;
};

void run_task(gpointer data, gpointer tasks) {
  __tsan_acquire(data);
  static_cast<Tasks*>(tasks)->function(data, static_cast<Tasks*>(tasks)->user_data);
}

}  // namespace

#undef g_once_init_enter
#undef g_once_init_leave

#define CROWD_REAL(function) static constinit Real<decltype(function)> real(#function)

extern "C" {

void g_mutex_lock(GMutex* mutex) {
  CROWD_REAL(g_mutex_lock);
  real(mutex);
  __tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex* mutex) {
  CROWD_REAL(g_mutex_trylock);
  const gboolean locked = real(mutex);
  if (locked)
    __tsan_acquire(mutex);
  return locked;
}

void g_mutex_unlock(GMutex* mutex) {
  CROWD_REAL(g_mutex_unlock);
  __tsan_release(mutex);
  real(mutex);
}

void g_cond_wait(GCond* cond, GMutex* mutex) {
  CROWD_REAL(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond* cond, GMutex* mutex, gint64 end_time) {
  CROWD_REAL(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

gboolean g_once_init_enter(volatile void* location) {
  CROWD_REAL(g_once_init_enter);
  const gboolean first = real(location);
  __tsan_acquire(const_cast<void*>(location));
  return first;
}

void g_once_init_leave(volatile void* location, gsize result) {
  CROWD_REAL(g_once_init_leave);
  __tsan_release(const_cast<void*>(location));
  real(location, result);
}

// Done here down to the last reference, which alone may be seen to come after all others.
void gst_mini_object_unref(GstMiniObject* object) {
  CROWD_REAL(gst_mini_object_unref);
  gint count = __atomic_load_n(&object->refcount, __ATOMIC_ACQUIRE);
  while (count > 1) {
    if (__atomic_compare_exchange_n(&object->refcount, &count, count - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return;
  }
  real(object);
}

gboolean gst_mini_object_is_writable(const GstMiniObject* object) {
  CROWD_REAL(gst_mini_object_is_writable);
  const gboolean writable = real(object);
  __tsan_acquire(const_cast<gint*>(&object->refcount));
  return writable;
}

// GStreamer's own, spelt out, since it drops its reference where it is not seen.
GstMiniObject* gst_mini_object_make_writable(GstMiniObject* object) {
  if (gst_mini_object_is_writable(object))
    return object;
  GstMiniObject* copy = gst_mini_object_copy(object);
  gst_mini_object_unref(object);
  return copy;
}

// The pools live as long as the program.
GThreadPool* g_thread_pool_new(GFunc function, gpointer user_data, gint max_threads, gboolean exclusive,
                               GError** error) {
  CROWD_REAL(g_thread_pool_new);
  static Tasks tasks[64];
  static std::atomic<std::size_t> next = 0;
  Tasks& own = tasks[next++ % std::size(tasks)];
  own = {function, user_data};
  return real(run_task, static_cast<gpointer>(&own), max_threads, exclusive, error);
}

gboolean g_thread_pool_push(GThreadPool* pool, gpointer data, GError** error) {
  CROWD_REAL(g_thread_pool_push);
  __tsan_release(data);
  return real(pool, data, error);
}

void g_object_unref(gpointer object) {
  CROWD_REAL(g_object_unref);
  drop(object);
  real(object);
}

void g_ptr_array_unref(GPtrArray* array) {
  CROWD_REAL(g_ptr_array_unref);
  drop(array);
  real(array);
}
}
