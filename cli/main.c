/* main.c - the program: the list of commands, their dispatch and exit status.
 *
 * Exit status: see CLI_EXITS. A result that cannot be written (closed pipe, full disk) is a failure, so stdout is
 * closed here and the result checked. */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A new command is a file cmd_NAME.c that defines command_NAME, and its line here: nothing else counts them. */
#define COMMANDS(X)                                                                                                    \
    X(fit)                                                                                                             \
    X(select)                                                                                                          \
    X(density)                                                                                                         \
    X(score)                                                                                                           \
    X(sample)                                                                                                          \
    X(marginal)                                                                                                        \
    X(probability)                                                                                                     \
    X(endpoints)                                                                                                       \
    X(simulate)                                                                                                        \
    X(evaluate)                                                                                                        \
    X(plot)                                                                                                            \
    X(view)                                                                                                            \
    X(eigen)                                                                                                           \
    X(reproduce)                                                                                                       \
    X(bench)                                                                                                           \
    X(info)                                                                                                            \
    X(version)                                                                                                         \
    X(man)

#define COMMAND_DECLARE(name) extern const cli_command command_##name;
#define COMMAND_ENTRY(name) &command_##name,
COMMANDS(COMMAND_DECLARE)
static const cli_command *const commands[] = { COMMANDS(COMMAND_ENTRY) NULL };

static const cli_command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const cli_args *args, const char *name)
{
    cli_nearest near = { .wanted = name };
    if (name[0] == '-')
        return cli_fail(args, CLI_USAGE, "unknown option %s; options follow a command, see neuropmd --help", name);
    for (int i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            cli_nearest_try(&near, commands[i]->name);
    cli_nearest_try(&near, "help");
    if (near.best)
        return cli_fail(args, CLI_USAGE, "unknown command '%s'; did you mean %s?", name, near.best);
    return cli_fail(args, CLI_USAGE, "unknown command '%s'; see neuropmd --help", name);
}

static int help(int argc, char **argv)
{
    const cli_args args = { 0 };
    const cli_command *about = NULL;
    if (argc > 1)
        return cli_fail(&args, CLI_USAGE, "help explains one command, '%s' is one too many", argv[1]);
    if (argc == 0) {
        cli_help_program(commands, stdout);
        return CLI_DONE;
    }
    if (!(about = command_find(argv[0])))
        return unknown_command(&args, argv[0]);
    cli_help_command(about);
    return CLI_DONE;
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    cli_args args = { .commands = commands };
    int code = CLI_DONE;
    if (!name) {
        cli_help_program(commands, stderr);
        return CLI_USAGE;
    }
    if (strcmp(name, "help") == 0 && argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        return help(0, argv);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 2, argv + 2);
    const cli_command *command = command_find(strcmp(name, "--version") == 0 ? "version" : name);
    if (!command)
        return unknown_command(&args, name);
    args.command = command;
    code = cli_parse(argc - 2, argv + 2, &args);
    if (code == CLI_DONE) {
        if (args.help)
            cli_help_command(command);
        else
            code = command->run(&args);
    }
    cli_args_free(&args);
    return code;
}

/* A standard stream that the caller closed would give its number to the next file opened, and a message would
 * land in a model. A closed one is replaced by /dev/null, stdout for reading only, so that writing to it
 * still fails. */
static void hold_standard_streams(void)
{
    static const int modes[3] = { O_WRONLY, O_RDONLY, O_WRONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(CLI_FILE);
}

/* Has whoever read our output gone, as head does? */
static bool reader_left(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* Closes stdout; what could not be written is a failure, but no news to a reader who wanted no more: then the program
 * ends without a word, by the signal of a broken pipe as others do (128 + 13 in a shell). */
static int close_output(int code, const cli_command *command)
{
    const cli_args args = { .command = command };
    errno = 0;
    const bool failed_before = ferror(stdout) != 0, failed = fflush(stdout) != 0 || failed_before;
    const int reason = errno;
    const bool left = failed && reader_left(), closed = fclose(stdout) == 0;
    if ((closed && !failed) || (code != CLI_DONE && code != CLI_INTERRUPTED))
        return code;
    if (left) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
        return CLI_FILE; /* the caller has blocked it */
    }
    return cli_fail(&args, CLI_FILE, "cannot write to standard output: %s",
                    reason ? strerror(reason) : "a write failed");
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    cli_watch_files();
    /* a closed pipe or a limit on the size of files is then an error of the write, with its own exit status */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const int code = dispatch(argc, argv);
    return close_output(code, argc > 1 ? command_find(argv[1]) : NULL);
}
