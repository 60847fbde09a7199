#include "buoy/retrieve/document_reader.h"

namespace buoy::retrieve {

std::unique_ptr<DocumentReader> DocumentReader::open(const SourceFile& file) {
  return file.kind == SourceKind::kJsonLines ? open_json_lines(file) : open_text_file(file);
}

}  // namespace buoy::retrieve
