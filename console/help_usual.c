/* help_usual.c - the usual values of open options, from the library on a few domains.
 *
 * The library has the numbers; equal ones are grouped here: "3 on S1, T2, S2; 4 on T4". */
#include "console.h"

#include <string.h>

enum { DOMAINS = 5, VALUE = 96 };
static const size_t POINTS = 10000, FEWER = 1000; /* another number shows what depends on it */
static const char *const DOMAIN_NAMES[DOMAINS] = { "S1", "T2", "S2", "T4", "S2 x S2" };

/* One for each factor, all the same, is one for all. */
static void shorten(char *text)
{
    const size_t first = strcspn(text, ",");
    for (const char *at = text + first; *at; at += first)
        if (*at++ != ',' || strncmp(at, text, first) != 0 || (at[first] && at[first] != ','))
            return;
    text[first] = '\0';
}

static void find_value(const cli_option *option, const npmd_options *options, int d, size_t n, char *value)
{
    npmd_domain *domain = NULL;
    if (npmd_domain_parse(DOMAIN_NAMES[d], &domain, NULL) != NPMD_OK
        || npmd_option_usual(option->name, options, domain, n, value, VALUE, NULL) != NPMD_OK)
        value[0] = '\0';
    npmd_domain_free(domain);
    shorten(value);
}

typedef struct usual_values {
    char at[DOMAINS][VALUE];
    bool known;  /* on all domains, and on one of them something else than leaves it open */
    bool counts; /* it depends on the number of points */
} usual_values;

/* Of a field; patience is that of one that stops early. */
static usual_values find_values(const cli_option *option)
{
    usual_values v = { 0 };
    npmd_options *options = npmd_options_new();
    bool all = options
               && (strcmp(option->name, "patience") != 0 || npmd_options_set(options, "stop", "ise", NULL) == NPMD_OK);
    for (int d = 0; all && d < DOMAINS; d++) {
        char fewer[VALUE];
        find_value(option, options, d, POINTS, v.at[d]);
        find_value(option, options, d, FEWER, fewer);
        all = v.at[d][0] != '\0';
        v.known |= strcmp(v.at[d], option->fallback) != 0;
        v.counts |= strcmp(v.at[d], fewer) != 0;
    }
    v.known &= all;
    npmd_options_free(options);
    return v;
}

void cli_option_usual(const cli_option *option, char *text, size_t size)
{
    text[0] = '\0';
    if (!option->library || !option->fallback)
        return;
    usual_values v = find_values(option);
    FILE *out = v.known ? fmemopen(text, size, "w") : NULL;
    if (!out)
        return;
    for (int d = 0; d < DOMAINS; d++) {
        int count = 0;
        for (int e = d; e < DOMAINS; e++)
            count += v.at[d][0] && strcmp(v.at[e], v.at[d]) == 0;
        if (count == 0)
            continue; /* said before */
        /* the word on would read as another */
        fprintf(out, strcmp(v.at[d], "on") == 0 ? "%s\"%s\"" : "%s%s", d > 0 ? "; " : "", v.at[d]);
        if (count == DOMAINS)
            break;
        for (int e = d, said = 0; e < DOMAINS; e++)
            if (e == d || strcmp(v.at[e], v.at[d]) == 0) {
                fprintf(out, "%s%s", said++ > 0 ? ", " : " on ", DOMAIN_NAMES[e]);
                if (e > d)
                    v.at[e][0] = '\0';
            }
    }
    if (v.counts)
        fprintf(out, " for %s points", cli_words_count(POINTS).text);
    fclose(out);
}
