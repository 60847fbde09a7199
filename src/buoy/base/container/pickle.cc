#include "buoy/base/container/pickle.h"

#include <bit>

#include "buoy/base/little_endian.h"

namespace buoy {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays below say little-endian");

// Opcodes of the pickle machine.
constexpr char kProtocol4[] = "\x80\x04";
constexpr char kMark[] = "(", kTuple[] = "t", kTuple1[] = "\x85", kTuple3[] = "\x87", kEmptyTuple[] = ")";
constexpr char kEmptyList[] = "]", kAppends[] = "e", kEmptyDict[] = "}", kSetItems[] = "u";
constexpr char kNone[] = "N", kTrue[] = "\x88", kFalse[] = "\x89";
constexpr char kReduce[] = "R", kBuild[] = "b", kStop[] = ".";

}  // namespace

PickleWriter::PickleWriter(Sink sink) : sink_(std::move(sink)) {
  sink_(kProtocol4);
}

void PickleWriter::text(std::string_view value) {
  sink_(LittleEndian().text("X").u32(value.size()).bytes());
  sink_(value);
}

void PickleWriter::integer(std::int64_t value) {
  // LONG1: a two's complement number of 8 bytes.
  sink_(LittleEndian().u8(0x8a).u8(8).u64(static_cast<std::uint64_t>(value)).bytes());
}

void PickleWriter::bytes(std::span<const std::byte> values) {
  sink_(LittleEndian().u8(0x8e).u64(values.size()).bytes());  // BINBYTES8
  sink_({reinterpret_cast<const char*>(values.data()), values.size()});
}

void PickleWriter::tuple(const std::vector<std::int64_t>& values) {
  if (values.empty()) return sink_(kEmptyTuple);
  sink_(kMark);
  for (const auto value : values) integer(value);
  sink_(kTuple);
}

// numpy.dtype(code, False, True) with the state of an unstructured type.
void PickleWriter::dtype(std::string_view code, std::string_view order, int flags) {
  sink_("cnumpy\ndtype\n");
  text(code);
  sink_(kFalse), sink_(kTrue), sink_(kTuple3), sink_(kReduce);
  sink_(kMark);
  integer(3);
  text(order);
  sink_(kNone), sink_(kNone), sink_(kNone);
  integer(-1), integer(-1), integer(flags);
  sink_(kTuple), sink_(kBuild);
}

// numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b"b"), to be filled by a state. numpy 2 keeps this
// old name for the pickles of numpy 1.
void PickleWriter::begin_array() {
  sink_("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n");
  integer(0);
  sink_(kTuple1);
  sink_(
      "C\x01"
      "b");  // SHORT_BINBYTES
  sink_(kTuple3), sink_(kReduce);
  sink_(kMark);
  integer(1);
}

void PickleWriter::numeric_array(std::string_view code, std::span<const std::byte> values,
                                 const std::vector<std::int64_t>& shape) {
  begin_array();
  tuple(shape);
  dtype(code, "<", 0);
  sink_(kFalse);
  bytes(values);
  sink_(kTuple), sink_(kBuild);
}

void PickleWriter::array(std::span<const float> values, const std::vector<std::int64_t>& shape) {
  numeric_array("f4", std::as_bytes(values), shape);
}

void PickleWriter::array(std::span<const std::int64_t> values, const std::vector<std::int64_t>& shape) {
  numeric_array("i8", std::as_bytes(values), shape);
}

void PickleWriter::begin_objects(std::int64_t count) {
  begin_array();
  tuple({count});
  dtype("O8", "|", 63);
  sink_(kFalse);
  sink_(kEmptyList), sink_(kMark);
}

void PickleWriter::end_objects() {
  sink_(kAppends);
  sink_(kTuple), sink_(kBuild);
}

void PickleWriter::begin_dictionary() {
  sink_(kEmptyDict), sink_(kMark);
}

void PickleWriter::end_dictionary() {
  sink_(kSetItems);
}

void PickleWriter::finish() {
  sink_(kStop);
}

}  // namespace buoy
