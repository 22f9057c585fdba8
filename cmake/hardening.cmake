# hardening.cmake - what makes a mistake in C end the program, and not serve somebody: NPMD_HARDENING, AUTO by default.
#
#   FORTIFY_SOURCE     copies and prints of the C library know the size of what they write to
#   stack protector    a function that wrote beyond its arrays does not return
#   stack clash        a large frame cannot step over the guard page
#   RELRO, BIND_NOW    tables of functions are read-only before the first line runs
#   PIE                the program lies at another address each time
#   CET                calls and returns go where they should, on processors that look
#
# Each is used where compiler and linker have it; the summary says which, and a test (tests/abi/hardened.sh) looks for them
# in the files that were built. Sanitizers see more than FORTIFY_SOURCE and would be blinded by it.
include(CheckLinkerFlag)
include(CheckPIESupported)

npmd_feature(HARDENING "Checks of the compiler and the linker in the built files")
set(NPMD_HARDENED "") # words for the summary and the test
set(npmd_reason "")
if(NOT NPMD_HARDENING STREQUAL "OFF")
    # npmd_harden(word flag): the flag for all sources, if the compiler has it.
    macro(npmd_harden word flag)
        string(MAKE_C_IDENTIFIER "NPMD_HAS${flag}" npmd_has)
        check_c_compiler_flag(${flag} ${npmd_has})
        if(${npmd_has})
            target_compile_options(npmd_flags INTERFACE ${flag})
            list(APPEND NPMD_HARDENED ${word})
        endif()
    endmacro()
    npmd_harden(stack-protector -fstack-protector-strong)
    npmd_harden(stack-clash -fstack-clash-protection)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|i.86)$")
        npmd_harden(cet -fcf-protection=full)
    endif()
    # It wants an optimiser; 3 knows sizes that only the running program does, where the C library has it.
    if(NOT NPMD_SANITIZE AND NOT NPMD_FUZZ AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        target_compile_options(npmd_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
        list(APPEND NPMD_HARDENED fortify)
    endif()
    check_linker_flag(C "LINKER:-z,relro,-z,now" NPMD_HAS_RELRO)
    if(NPMD_HAS_RELRO)
        add_link_options("LINKER:-z,relro,-z,now")
        list(APPEND NPMD_HARDENED relro now)
    endif()
    check_pie_supported(LANGUAGES C)
    if(CMAKE_C_LINK_PIE_SUPPORTED)
        list(APPEND NPMD_HARDENED pie)
    endif()
    if(NOT NPMD_HARDENED)
        set(npmd_reason "neither compiler nor linker has any of it")
    endif()
endif()
npmd_settle(HARDENING "hardening" "${npmd_reason}" "${NPMD_HARDENED}")
