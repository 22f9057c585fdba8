/* interrupt.c - Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends the program at once. */
#include "console.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

void cli_watch_signals(bool restart)
{
    struct sigaction action = { .sa_handler = interrupt };
    sigemptyset(&action.sa_mask);
    action.sa_flags = restart ? SA_RESTART : 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}
