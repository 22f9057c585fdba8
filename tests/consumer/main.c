/* main.c - a stranger's program: finds the installed headers and libraries, and gets right answers. */
#include <neuropmd-draw.h>
#include <neuropmd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    npmd_error err = { 0 };
    npmd_domain *dom = NULL;
    if (npmd_domain_parse("T2 x S2", &dom, &err)) {
        fprintf(stderr, "consumer: %s\n", err.text);
        return 1;
    }
    const double pi = acos(-1.0), volume = 16.0 * pi * pi * pi; /* (2 pi)^2 x 4 pi */
    const int good = npmd_domain_columns(dom) == 5 && npmd_domain_dimension(dom) == 4
                     && fabs(npmd_domain_volume(dom) / volume - 1.0) < 1e-14 && strcmp(npmd_version(), "") != 0
                     && npmd_plot_kind(0, NULL);
    printf("neuropmd %s: %s, volume %.6f, %s\n", npmd_version(), npmd_domain_text(dom), npmd_domain_volume(dom),
           good ? "ok" : "WRONG");
    npmd_domain_free(dom);
    return good ? 0 : 1;
}
