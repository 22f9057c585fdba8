/* write.c - writes the text of a command to a file. */
#include "console.h"

#include <stdlib.h>

int cli_write(const cli_args *args, const char *path, void (*put)(FILE *f, const void *user), const void *user)
{
    npmd_error err = { 0 };
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool whole = f != NULL;
    int code = CLI_DONE;
    if (f) {
        put(f, user);
        whole = !ferror(f);
        whole = fclose(f) == 0 && whole;
    }
    if (!whole)
        code = cli_fail(args, CLI_MEMORY, "not enough memory for what goes to %s", path);
    else if (npmd_text_write(path, text, &err))
        code = cli_refuse(args, &err);
    free(text);
    return code;
}
