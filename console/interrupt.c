/* interrupt.c - signals.
 *
 * Ctrl-C, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends the program at once. A SIGHUP that
 * the caller has switched off, as nohup does, stays so.
 *
 * SIGBUS: a mapped file became shorter than it was when it was opened. Nothing can be computed from then on, nor be
 * undone: a sentence, and the status of a file that cannot be read. A temporary file goes with the next run, as after a
 * kill. */
#include "console.h"

#include <signal.h>
#include <unistd.h>

static const int ENDING[] = { SIGINT, SIGTERM, SIGHUP };
enum { ENDINGS = sizeof ENDING / sizeof *ENDING };

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t caught[ENDINGS];

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
    cli_leave_signals();
}

void cli_watch_signals(bool restart)
{
    struct sigaction action = { .sa_handler = interrupt }, before;
    sigemptyset(&action.sa_mask);
    action.sa_flags = restart ? SA_RESTART : 0;
    for (int i = 0; i < ENDINGS; i++) {
        if (ENDING[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        caught[i] = 1;
        sigaction(ENDING[i], &action, NULL);
    }
}

void cli_leave_signals(void)
{
    for (int i = 0; i < ENDINGS; i++)
        if (caught[i])
            signal(ENDING[i], SIG_DFL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

static void file_shrank(int number, siginfo_t *facts, void *context)
{
    static const char SENTENCE[] =
        "neuropmd: a file that stays on the disk while it is read became shorter, or its disk "
        "failed; outputs are as they were, run it again with a file that is left alone\n";
    (void)context;
    if (facts->si_code != BUS_ADRERR && facts->si_code != BUS_OBJERR) { /* not a file's doing: as without a handler */
        signal(number, SIG_DFL);
        return;
    }
    if (write(STDERR_FILENO, SENTENCE, sizeof SENTENCE - 1) < 0) /* the status says it, too */
        _exit(CLI_FILE);
    _exit(CLI_FILE);
}

void cli_watch_files(void)
{
    struct sigaction action = { .sa_sigaction = file_shrank, .sa_flags = SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
