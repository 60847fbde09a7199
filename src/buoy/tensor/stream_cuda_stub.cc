#include "buoy/tensor/no_cuda.h"
#include "buoy/tensor/stream.h"

namespace buoy {

Stream::Stream(Priority) {
  throw_no_cuda();
}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
void Stream::synchronize() const {
  throw_no_cuda();
}

Event::Event(Wait) {
  throw_no_cuda();
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;
void Event::record(const Stream&) {
  throw_no_cuda();
}
void Event::hold(const Stream&) const {
  throw_no_cuda();
}
void Event::synchronize() const {
  throw_no_cuda();
}
double Event::milliseconds_since(const Event&) const {
  throw_no_cuda();
}

Graph::Graph(const Stream&, const std::function<void()>&) {
  throw_no_cuda();
}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
void Graph::launch(const Stream&) const {
  throw_no_cuda();
}

}  // namespace buoy
