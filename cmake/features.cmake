# features.cmake - parts of the libraries that a build may have or not. NPMD_<NAME> says ON (an error where something is
# missing), OFF, or AUTO (with it where all that it needs is found).
#
# A feature that depends on what happens to be installed is an accident of the machine; ON and OFF make it a decision.

set(NPMD_SUMMARY "") # lines that npmd_summary prints

# npmd_feature(NAME what): the option.
function(npmd_feature name what)
    set(NPMD_${name} AUTO CACHE STRING "${what}: ON, OFF, or AUTO (where what it needs is found)")
    set_property(CACHE NPMD_${name} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${NPMD_${name}}" asked)
    if(asked MATCHES "^(1|YES|TRUE|Y)$") # as CMake itself takes them
        set(asked ON)
    elseif(asked MATCHES "^(0|NO|FALSE|N)$")
        set(asked OFF)
    elseif(NOT asked MATCHES "^(ON|OFF|AUTO)$")
        message(FATAL_ERROR "NPMD_${name}=${NPMD_${name}}: ON, OFF or AUTO was expected")
    endif()
    set(NPMD_${name} ${asked} PARENT_SCOPE)
endfunction()

# npmd_settle(NAME what reason how): sets NPMD_WITH_<NAME>, which is ON where there is no reason against it.
function(npmd_settle name what reason how)
    if(NPMD_${name} STREQUAL "OFF")
        set(reason "NPMD_${name} is OFF")
    elseif(NPMD_${name} STREQUAL "ON" AND NOT reason STREQUAL "")
        message(FATAL_ERROR "NPMD_${name}=ON: ${reason}")
    endif()
    if(reason STREQUAL "")
        set(NPMD_WITH_${name} ON PARENT_SCOPE)
        npmd_line("${what}" "${how}")
    else()
        set(NPMD_WITH_${name} OFF PARENT_SCOPE)
        npmd_line("${what}" "no: ${reason}")
    endif()
    set(NPMD_SUMMARY "${NPMD_SUMMARY}" PARENT_SCOPE)
endfunction()

# npmd_line(what words): one line of the summary.
macro(npmd_line what words)
    string(SUBSTRING "${what}:                         " 0 25 npmd_start)
    string(REGEX REPLACE "[ \n]+" " " npmd_end "${words}")
    string(REPLACE ";" ", " npmd_end "${npmd_end}") # the lines are a list
    list(APPEND NPMD_SUMMARY "${npmd_start}${npmd_end}")
endmacro()

function(npmd_summary)
    message(STATUS "neuropmd ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
    foreach(line IN LISTS NPMD_SUMMARY)
        message(STATUS "  ${line}")
    endforeach()
endfunction()
