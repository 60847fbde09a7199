"""The name that the reader of traces had before it became part of the package: buoy/trace.py."""

from buoy.trace import Sample, Trace, TraceError  # noqa: F401
