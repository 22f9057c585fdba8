# The manual page: complete, and well-formed where groff can say so.

t_manual_has_every_option() {
    run man
    want_code 0
    mv out page
    for command in $("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        [ "$command" = help ] && continue
        grep -q "^\.SS $command\$" page || wrong "no section for $command"
        for option in $("$program" help "$command" | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
            text=$(printf '%s' "$option" | sed 's/-/\\\\-/g')
            grep -q "^\\\\fB\\\\-\\\\-$text\\\\fR" page || wrong "--$option of $command is missing"
        done
    done
    for section in NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        grep -q "^\.SH $section\$" page || wrong "no section $section"
    done
}

t_manual_is_well_formed() {
    have groff || { skipped="groff was not found"; return; }
    run man
    # long lines in EXAMPLES may break on a narrow page; everything else is a mistake
    groff -man -Tutf8 -ww out 2>notes_of_groff >page || wrong "groff failed"
    ! grep -v "cannot adjust line\|can't break line" notes_of_groff | grep -q . || wrong "groff: $(head -c 300 notes_of_groff)"
}
