# man.cmake - writes the manual page that the program prints: cmake -DPROGRAM=... -DPAGE=... -P man.cmake
execute_process(COMMAND ${PROGRAM} man OUTPUT_VARIABLE text ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(status EQUAL 0 AND text MATCHES "^(\\.\\\\\"|\\.TH|'\\\\\")")
    file(WRITE ${PAGE} "${text}")
else()
    message(STATUS "'${PROGRAM} man' printed no manual page; a short one stands in")
    file(WRITE ${PAGE} [[
.TH NEUROPMD 1
.SH NAME
neuropmd \- density estimation on products of manifolds
.SH SYNOPSIS
.B neuropmd
.I command
.RI [ options ]
.SH DESCRIPTION
.B neuropmd \-\-help
lists the commands,
.BI "neuropmd " command " \-\-help"
the options of one.
]])
endif()
