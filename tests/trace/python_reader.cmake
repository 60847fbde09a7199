# python/buoy_trace.py reads the committed traces, and numpy what `buoy export` writes, where there is a Python
# with numpy.
find_program(BUOY_PYTHON python3 HINTS /usr/bin)
if(BUOY_PYTHON)
  execute_process(COMMAND ${BUOY_PYTHON} -c "import numpy" RESULT_VARIABLE without_numpy OUTPUT_QUIET ERROR_QUIET)
endif()
if(BUOY_PYTHON AND NOT without_numpy)
  add_test(NAME python_trace_reader COMMAND ${BUOY_PYTHON} -B ${PROJECT_SOURCE_DIR}/python/test_buoy_trace.py)
  add_test(NAME npz_export COMMAND ${BUOY_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/app/export_test.py
    $<TARGET_FILE:buoy> ${PROJECT_SOURCE_DIR}/tests/data/goldens)
else()
  message(STATUS "No python3 with numpy: the Python trace reader and the npz export are not tested")
endif()
