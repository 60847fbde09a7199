#pragma once

// What most programs that use Buoy as a library begin with: load a model, ask, watch, decode, store and read
// traces. docs/library.md lists what else there is; every header can be included by itself.

#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/model/model.h"
#include "buoy/observe/recorder.h"
#include "buoy/probe/probe.h"
#include "buoy/probe/watch.h"
#include "buoy/run/decoding.h"
#include "buoy/run/loaded_model.h"
#include "buoy/tensor/context.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"
