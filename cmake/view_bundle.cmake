# view_bundle.cmake - cmake -DSOURCE=view -DTHREE=package -DOUT=view_page.c -P view_bundle.cmake
#
# One text of page.html, its style, three.js and the page's scripts, in the places that page.html marks; then, as a gzip
# file, an array of bytes in C. three.js is an ES module: what it exports at its end becomes one object, THREE, and its
# licence stays above it.
cmake_minimum_required(VERSION 3.22)

set(scripts data.js colour.js sphere.js surface.js orbit.js panel3d.js plane.js curve.js state.js app.js) # in this order

# put(mark text): the text in the place of <!--mark--> or /*mark*/ in ${page}. Found by position: as a pattern, or in a
# list, the text would be changed.
function(put mark text)
    string(FIND "${page}" "${mark}" at)
    if(at LESS 0)
        message(FATAL_ERROR "page.html has no ${mark}")
    endif()
    string(LENGTH "${mark}" length)
    string(SUBSTRING "${page}" 0 ${at} before)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${page}" ${at} -1 behind)
    set(page "${before}${text}${behind}" PARENT_SCOPE)
endfunction()

file(READ ${THREE}/build/three.module.min.js three)
file(READ ${THREE}/LICENSE licence)
string(FIND "${three}" "export{" at REVERSE)
string(SUBSTRING "${three}" 0 ${at} body)
string(SUBSTRING "${three}" ${at} -1 exports)
string(REGEX REPLACE "([A-Za-z0-9_$]+) as ([A-Za-z0-9_$]+)" "\\2:\\1" exports "${exports}")
string(REGEX REPLACE "^export({[^}]*}).*$" "\\1" exports "${exports}")
set(three "const THREE=(()=>{${body}\nreturn${exports}})();")

set(script "")
foreach(name IN LISTS scripts)
    file(READ ${SOURCE}/${name} text)
    string(APPEND script "${text}\n")
endforeach()

file(READ ${SOURCE}/page.html page)
file(READ ${SOURCE}/style.css style)
put("/*STYLE*/" "${style}")
put("<!--LICENCE-->" "<!-- three.js, which is part of this page:\n\n${licence}-->")
put("/*THREE*/" "${three}")
put("/*SCRIPT*/" "${script}")

file(WRITE ${OUT}.html "${page}")
file(ARCHIVE_CREATE OUTPUT ${OUT}.gz PATHS ${OUT}.html FORMAT raw COMPRESSION GZip)
file(READ ${OUT}.gz bytes HEX)
string(SUBSTRING "${bytes}" 0 8 start) # the time comes next, and goes: equal sources give equal bytes
string(SUBSTRING "${bytes}" 16 -1 bytes)
string(PREPEND bytes "${start}00000000")
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "/* Made by cmake/view_bundle.cmake of the folder view/ and three.js. */
#include \"view.h\"

const unsigned char VIEW_BUNDLE[] = {
${bytes}
};
const size_t VIEW_BUNDLE_SIZE = sizeof VIEW_BUNDLE;
")
file(REMOVE ${OUT}.gz)
