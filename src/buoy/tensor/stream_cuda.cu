#include <utility>

#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/stream.h"

namespace buoy {
namespace {

cudaStream_t raw(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

}  // namespace

Stream::Stream(Priority priority) {
  int least = 0, greatest = 0;
  cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "read the priorities of streams");
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                          priority == Priority::kUrgent ? greatest : least),
             "make a stream");
  handle_ = stream;
}
Stream::~Stream() {
  if (handle_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(handle_));
}
Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Stream::synchronize() const {
  cuda_check(cudaStreamSynchronize(raw(*this)), "finish the queued work");
}

Event::Event(Wait wait) {
  cudaEvent_t event = nullptr;
  const unsigned flags =
      wait == Wait::kAsleep ? cudaEventBlockingSync | cudaEventDisableTiming : cudaEventDefault;
  cuda_check(cudaEventCreateWithFlags(&event, flags), "make an event");
  handle_ = event;
}
Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}
Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Event::record(const Stream& stream) {
  cuda_check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), raw(stream)), "record an event");
}
void Event::hold(const Stream& stream) const {
  cuda_check(cudaStreamWaitEvent(raw(stream), static_cast<cudaEvent_t>(handle_), 0), "wait for an event");
}
void Event::synchronize() const {
  cuda_check(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "finish the queued work");
}
double Event::milliseconds_since(const Event& earlier) const {
  float elapsed = 0;
  cuda_check(cudaEventElapsedTime(&elapsed, static_cast<cudaEvent_t>(earlier.handle_),
                                  static_cast<cudaEvent_t>(handle_)),
             "read the time between events");
  return elapsed;
}

Graph::Graph(const Stream& stream, const std::function<void()>& work) {
  cuda_check(cudaStreamBeginCapture(raw(stream), cudaStreamCaptureModeThreadLocal), "begin a graph");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(raw(stream), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  cuda_check(cudaStreamEndCapture(raw(stream), &graph), "end a graph");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cuda_check(status, "prepare a graph");
  handle_ = executable;
}
Graph::~Graph() {
  if (handle_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(handle_));
}
Graph::Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Graph::launch(const Stream& stream) const {
  cuda_check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_), raw(stream)), "launch a graph");
}

}  // namespace buoy
