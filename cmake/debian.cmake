# debian.cmake - what a Debian package has and "make install" has not; cpack runs it on the files it will pack.
set(root ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(documents ${root}/share/doc/neuropmd)

# The licence itself is on every Debian machine.
file(REMOVE ${documents}/LICENSE)
file(WRITE ${documents}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: neuropmd

Files: *
Copyright: The neuropmd developers
License: Apache-2.0
 The Apache License, Version 2.0, stands in
 /usr/share/common-licenses/Apache-2.0; NOTICE lies beside this file.
")

# Debian's change log has a form of its own.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # that of SOURCE_DATE_EPOCH, where it is set
file(RENAME ${documents}/CHANGELOG.md ${documents}/changes.md)
file(WRITE ${documents}/changelog
"neuropmd (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See changes.md.

 -- ${CPACK_PACKAGE_CONTACT} <>  ${date}
")

# -n: without name and time, so that equal files are packed to equal bytes.
execute_process(COMMAND gzip -9nf ${documents}/changelog ${root}/share/man/man1/neuropmd.1 COMMAND_ERROR_IS_FATAL ANY)

file(WRITE ${root}/share/lintian/overrides/neuropmd
"# program, library and header in one package, on purpose
neuropmd: package-name-doesnt-match-sonames *
neuropmd: link-to-shared-library-in-wrong-package *
# the scripts that cpack writes run ldconfig
neuropmd: lacks-ldconfig-trigger *
neuropmd: maintscript-calls-ldconfig *
# the project has neither an address nor a year in its NOTICE
neuropmd: malformed-contact *
neuropmd: bogus-mail-host-in-debian-changelog *
neuropmd: copyright-without-copyright-notice
")
