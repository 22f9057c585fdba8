/* replay.c - a fuzz target on known files: runs it on every file of the folders given, in the order of names.
 * A folder that is not there counts as empty; no file at all is a failure. */
#include "fuzz.h"
#include "io.h"

#include <dirent.h>
#include <stdio.h>

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int folder_replay(const char *folder)
{
    struct dirent **entry = NULL;
    int files = 0;
    const int count = scandir(folder, &entry, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        file_bytes b = { 0 };
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (file_read(path, &b, NULL) == NPMD_OK) {
            fprintf(stderr, "%s\n", path);                    /* the last line before a crash says where */
            uint8_t *exact = malloc(b.size > 0 ? b.size : 1); /* so that a sanitizer sees a step too far */
            PROMISE(exact != NULL);
            memcpy(exact, b.data, b.size);
            LLVMFuzzerTestOneInput(exact, b.size);
            free(exact);
            files++;
        }
        file_bytes_free(&b);
        free(entry[i]);
    }
    free(entry);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += folder_replay(argv[i]);
    printf("%sok 1 - %d files\n1..1\n", files > 0 ? "" : "not ", files);
    return files == 0;
}
