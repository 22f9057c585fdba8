# view.cmake - can the command view write its page? Sets NPMD_WITH_VIEW, NPMD_VIEW_PAGE (the source that holds the page)
# and NPMD_VIEW_OTHER (the source that is left out, as a pattern).
#
# The page (folder view/) needs three.js (MIT) of one version, checked by its hash: from the folder NPMD_THREE, from
# build/three of this tree, where an earlier build left it, or by npm, once. Where none of these gives it, all else is
# built, and view says what is missing. The page is put together when something of it changes, by view_bundle.cmake.
set(NPMD_THREE_VERSION 0.170.0)
set(NPMD_THREE_SHA512 # of npm's package file; "npm view three@VERSION dist.integrity" shows the same in base 64
    1502be2c4a587347c10fe27c83aa12132c8dce3a7e43b2acd42e7af1659aa0c44b5be4e434d5a67a759e1a0263575d3919dfa9ff6aa5d5972362f3623d9061b9)
set(NPMD_THREE_FILE build/three.module.min.js)
set(NPMD_THREE_FILE_SHA256 08fd7545d13d2c7fb65ab691530a802dafefd638596501854f267d0fb13c39e7) # of that file in it

set(NPMD_WITH_VIEW OFF)
set(npmd_three "")
set(npmd_view_reason "")

# npmd_three_is(folder out): does the folder hold the package, of this very version?
function(npmd_three_is folder out)
    set(${out} OFF PARENT_SCOPE)
    if(EXISTS "${folder}/${NPMD_THREE_FILE}" AND EXISTS "${folder}/LICENSE")
        file(SHA256 "${folder}/${NPMD_THREE_FILE}" found)
        if(found STREQUAL NPMD_THREE_FILE_SHA256)
            set(${out} ON PARENT_SCOPE)
        endif()
    endif()
endfunction()

# npmd_three_fetch(place out reason): by npm, within a minute; nothing is left behind by a failure.
function(npmd_three_fetch place out reason)
    set(${out} OFF PARENT_SCOPE)
    find_program(NPMD_NPM npm)
    mark_as_advanced(NPMD_NPM)
    if(NOT NPMD_NPM)
        set(${reason} "npm was not found" PARENT_SCOPE)
        return()
    endif()
    file(MAKE_DIRECTORY "${place}/fetched")
    execute_process(COMMAND ${NPMD_NPM} pack three@${NPMD_THREE_VERSION} --silent --fetch-retries=1 --fetch-timeout=30000
        WORKING_DIRECTORY "${place}/fetched" TIMEOUT 60 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    set(package "${place}/fetched/three-${NPMD_THREE_VERSION}.tgz")
    if(failed OR NOT EXISTS "${package}")
        set(${reason} "npm could not fetch three.js ${NPMD_THREE_VERSION}" PARENT_SCOPE)
    else()
        file(SHA512 "${package}" found)
        if(NOT found STREQUAL NPMD_THREE_SHA512)
            set(${reason} "what npm fetched as three.js ${NPMD_THREE_VERSION} has another hash" PARENT_SCOPE)
        else()
            file(ARCHIVE_EXTRACT INPUT "${package}" DESTINATION "${place}/fetched"
                 PATTERNS package/${NPMD_THREE_FILE} package/LICENSE package/package.json)
            file(REMOVE_RECURSE "${place}/package")
            file(RENAME "${place}/fetched/package" "${place}/package")
            set(${out} ON PARENT_SCOPE)
        endif()
    endif()
    file(REMOVE_RECURSE "${place}/fetched")
endfunction()

if(NOT NPMD_VIEW MATCHES "^(ON|OFF|AUTO)$")
    message(FATAL_ERROR "NPMD_VIEW=${NPMD_VIEW}: ON, OFF or AUTO was expected")
elseif(NPMD_VIEW STREQUAL "OFF")
    set(npmd_view_reason "NPMD_VIEW is OFF")
elseif(NPMD_THREE)
    npmd_three_is("${NPMD_THREE}" NPMD_WITH_VIEW)
    set(npmd_three "${NPMD_THREE}")
    if(NOT NPMD_WITH_VIEW) # it was asked for: nothing else is taken in its place
        message(FATAL_ERROR "NPMD_THREE=${NPMD_THREE}: the npm package three ${NPMD_THREE_VERSION}, unpacked, was expected")
    endif()
else()
    set(place "${PROJECT_SOURCE_DIR}/build/three") # one for all build folders of this tree
    set(npmd_three "${place}/package")
    npmd_three_is("${npmd_three}" NPMD_WITH_VIEW)
    if(NOT NPMD_WITH_VIEW)
        npmd_three_fetch("${place}" NPMD_WITH_VIEW npmd_view_reason)
    endif()
endif()

if(NPMD_WITH_VIEW)
    set(NPMD_VIEW_OTHER "/view_page_absent\\.c$")
    set(NPMD_VIEW_PAGE ${PROJECT_BINARY_DIR}/view_page.c)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/view/*)
    add_custom_command(OUTPUT ${NPMD_VIEW_PAGE}
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/view -DTHREE=${npmd_three} -DOUT=${NPMD_VIEW_PAGE}
                -P ${PROJECT_SOURCE_DIR}/cmake/view_bundle.cmake
        DEPENDS ${sources} ${npmd_three}/${NPMD_THREE_FILE} ${PROJECT_SOURCE_DIR}/cmake/view_bundle.cmake
        COMMENT "Putting the page together" VERBATIM)
    message(STATUS "Interactive page: with three.js ${NPMD_THREE_VERSION}")
elseif(NPMD_VIEW STREQUAL "ON")
    message(FATAL_ERROR "NPMD_VIEW=ON: ${npmd_view_reason}")
else()
    set(NPMD_VIEW_OTHER "^$") # nothing
    message(STATUS "Interactive page: none (${npmd_view_reason})")
endif()
