#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buoy {

// Python's pickle format, protocol 4, as far as a numpy object array of dictionaries needs it: what
// numpy.load(..., allow_pickle=True) and numpy 1 and 2 alike can read. Bytes go to a sink as they come.
class PickleWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  explicit PickleWriter(Sink sink);

  // A one-dimensional object array with `count` elements, which follow one by one before end_objects().
  void begin_objects(std::int64_t count);
  void end_objects();

  // A dictionary: keys and values follow in turn before end_dictionary().
  void begin_dictionary();
  void end_dictionary();

  void text(std::string_view value);  // UTF-8
  void integer(std::int64_t value);
  void array(std::span<const float> values, const std::vector<std::int64_t>& shape);
  void array(std::span<const std::int64_t> values, const std::vector<std::int64_t>& shape);

  void finish();

 private:
  void begin_array();
  void tuple(const std::vector<std::int64_t>& values);
  void dtype(std::string_view code, std::string_view order, int flags);
  void bytes(std::span<const std::byte> values);
  void numeric_array(std::string_view code, std::span<const std::byte> values,
                     const std::vector<std::int64_t>& shape);

  Sink sink_;
};

}  // namespace buoy
