# `make install PREFIX=...`: the program; below share/buoy what its examples run on (the bundled models, studies) and the
# Python reader of traces; the documentation. The libraries: package.cmake.
if(BUOY_APP)
  # Libraries found outside the system's folders (conda, a prefix) are found by the installed program too.
  set_target_properties(buoy PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS buoy RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY models studies examples DESTINATION ${CMAKE_INSTALL_DATADIR}/buoy)
install(FILES python/buoy_trace.py DESTINATION ${CMAKE_INSTALL_DATADIR}/buoy/python)
install(DIRECTORY python/buoy DESTINATION ${CMAKE_INSTALL_DATADIR}/buoy/python FILES_MATCHING PATTERN "*.py*"
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
