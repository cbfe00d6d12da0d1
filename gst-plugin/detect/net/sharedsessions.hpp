// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which users of a process share a session. What a session is loaded from is its key, and it runs inputs of one shape,
// the first that is taken.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace crowd::net {

struct InputShape {
  int batch = 0, width = 0, height = 0;
  bool operator==(const InputShape&) const = default;
};

/// For any thread. A session lives as long as there is a Shared of it.
template <typename Session>
class SharedSessions {
 public:
  using Shared = std::shared_ptr<Session>;

  /// One of this key that others have, of any shape, or what make() gives; null where that gives none. A call while
  /// make() runs waits, and shares what it gave.
  template <typename Make>
  Shared open(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    drop_expired();
    for (const Entry& entry : entries_)
      if (Shared session = entry.session.lock(); session && entry.key == key)
        return session;
    return add(key, {}, make);
  }

  /// Puts one of the same key in the place of `session` that runs this shape: one that others have, the same if it has
  /// no shape yet or is the caller's alone, or what make() gives. False, and all as it was, where that gives none.
  template <typename Make>
  bool take_shape(Shared& session, const InputShape& shape, const Make& make) {
    const std::lock_guard lock(mutex_);
    drop_expired();
    Entry& own = entry_of(session);
    if (own.shape == shape)
      return true;
    for (const Entry& entry : entries_)
      if (entry.shape == shape && entry.key == own.key)
        if (Shared other = entry.session.lock()) {
          session = std::move(other);
          return true;
        }
    // A use count of 1 stays so: others get the session here alone, under this lock.
    if (own.shape == InputShape() || session.use_count() == 1) {
      own.shape = shape;
      return true;
    }
    Shared more = add(std::string(own.key), shape, make);
    if (more)
      session = more;
    return more != nullptr;
  }

 private:
  struct Entry {
    std::string key;
    InputShape shape;  ///< of no batch before one is taken
    std::weak_ptr<Session> session;
  };

  void drop_expired() {
    std::erase_if(entries_, [](const Entry& entry) { return entry.session.expired(); });
  }

  Entry& entry_of(const Shared& session) {
    for (Entry& entry : entries_)
      if (entry.session.lock() == session)
        return entry;
    std::abort();  // every session comes from here
  }

  template <typename Make>
  Shared add(const std::string& key, const InputShape& shape, const Make& make) {
    Shared session = make();
    if (session)
      entries_.push_back({key, shape, session});
    return session;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace crowd::net
