# One static library a room. The link list of a room is the list of rooms it may include from:
# a header is only found through a target that is linked.
add_library(rankward_options INTERFACE)
target_compile_options(rankward_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                  -Wno-missing-field-initializers)
if(RANKWARD_SANITIZE)
  target_compile_options(rankward_options INTERFACE -fsanitize=${RANKWARD_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(rankward_options INTERFACE -fsanitize=${RANKWARD_SANITIZE})
  # AddressSanitizer sees what these see, and they take half of the time that g++ needs.
  if(RANKWARD_SANITIZE MATCHES "address.*undefined")
    target_compile_options(rankward_options INTERFACE -fno-sanitize=null,alignment,object-size)
  endif()
endif()

# rankward_room(NAME SOURCES file... ROOMS room... LIBRARIES target... PRIVATE_LIBRARIES target...)
function(rankward_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  add_library(rankward_${name} STATIC ${ARG_SOURCES})
  target_include_directories(rankward_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include"
                                              PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(rankward_${name} PRIVATE rankward_options)
  foreach(room ${ARG_ROOMS})
    target_link_libraries(rankward_${name} PUBLIC rankward_${room})
  endforeach()
  target_link_libraries(rankward_${name} PUBLIC Boost::headers ${ARG_LIBRARIES}
                                         PRIVATE ${ARG_PRIVATE_LIBRARIES})
endfunction()

# rankward_test(NAME SOURCES file... ROOMS room... LIBRARIES target... LABELS label...): a GoogleTest program
# of a room. The label `threads` says that it is worth running under ThreadSanitizer.
function(rankward_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE rankward_options GTest::gtest GTest::gtest_main GTest::gmock ${ARG_LIBRARIES})
  foreach(room ${ARG_ROOMS})
    target_link_libraries(${name} PRIVATE rankward_${room})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src/${room}")
  endforeach()
  target_compile_definitions(${name} PRIVATE RANKWARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}")
endfunction()
