#pragma once

#include <functional>
#include <memory>

namespace buoy {

// An in-order queue of GPU work. The handle is a cudaStream_t; only .cu files know that. A build without
// the CUDA backend links stubs that throw UsageError, here and in device_memory.h.
class Stream {
 public:
  // Where two streams compete for the card, the urgent one goes first.
  enum class Priority { kUsual, kUrgent };

  explicit Stream(Priority priority = Priority::kUsual);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  void* handle() const { return handle_; }
  void synchronize() const;  // returns when everything queued so far is done; throws what went wrong

 private:
  void* handle_ = nullptr;
};

// A point in a stream's queue.
class Event {
 public:
  // How the host waits for it: at once when it has passed, or asleep meanwhile.
  enum class Wait { kAwake, kAsleep };

  explicit Event(Wait wait = Wait::kAwake);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(const Stream& stream);
  void hold(const Stream& stream) const;  // work queued on `stream` from now on waits for the point
  void synchronize() const;               // the host waits for it
  double milliseconds_since(const Event& earlier) const;  // both must have passed

 private:
  void* handle_ = nullptr;
};

// Work recorded once and replayed with one launch. `work` queues on the stream as usual and must not
// allocate or synchronise; other streams take part from where they wait for an event of this one, and this
// one must wait for them in the end.
class Graph {
 public:
  Graph(const Stream& stream, const std::function<void()>& work);
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;

  void launch(const Stream& stream) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace buoy
