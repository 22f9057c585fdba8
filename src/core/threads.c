/* threads.c - how many threads a computation has, and whether they can be had.
 *
 * The library of OpenMP ends the program where it cannot start a thread, and in a child made by fork it waits for ever
 * for the threads of the parent, which are not there. So both are looked at before, at the doors of the library: threads
 * are started once, idle, to see that they can be; and a process whose parent used several is refused more than one.
 *
 * For this two facts are kept from one call to the next, the only ones: which process first used several threads, and
 * how many could be started there. They belong to the process as its number does, and not to anything that was asked
 * for; they are read and written as atoms, and no result depends on them. What others in the process do with OpenMP is
 * not seen. */
#include "core.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_long user;     /* the process that first used several threads; 0: none has */
static atomic_int startable; /* threads that were started there at once, beside the caller's */

static bool is_forked(void)
{
    const long first = atomic_load(&user);
    return first != 0 && first != (long)getpid();
}

int threads_wanted(int asked)
{
    long none = 0;
    const int wanted = asked > 0 ? asked : is_forked() ? 1 : omp_get_max_threads();
    if (wanted > 1)
        atomic_compare_exchange_strong(&user, &none, (long)getpid());
    return wanted;
}

/* ---- Can they be started? ---------------------------------------------------------------------------------------- */

typedef struct crowd {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    bool leave;
} crowd;

static void *wait_in(void *of)
{
    crowd *c = of;
    pthread_mutex_lock(&c->lock);
    while (!c->leave)
        pthread_cond_wait(&c->all_here, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Starts so many threads, all there at once, and lets them end. Returns how many there were, and why no more. */
static int threads_try(int count, pthread_t *thread, int *reason)
{
    crowd c = { .lock = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER };
    int started = 0;
    *reason = 0;
    while (started < count && (*reason = pthread_create(&thread[started], NULL, wait_in, &c)) == 0)
        started++;
    pthread_mutex_lock(&c.lock);
    c.leave = true;
    pthread_cond_broadcast(&c.all_here);
    pthread_mutex_unlock(&c.lock);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started;
}

static npmd_status threads_start(int wanted, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    pthread_t *thread = NULL;
    int reason = 0;
    TRY(memory_new(&thread, wanted, err));
    const int started = threads_try(wanted - 1, thread, &reason);
    if (started < wanted - 1)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY,
                      "%d threads were wanted, and %d could be started: %s; ask for fewer with `threads`", wanted,
                      started + 1, strerror(reason)));
    atomic_store(&startable, started);
done:
    memory_free(thread);
    return st;
}

npmd_status threads_check(int asked, npmd_error *err)
{
    if (asked < 0 || asked > THREADS_MOST)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`threads`: %d lies outside 0 .. %d", asked, THREADS_MOST);
    if (asked > 1 && is_forked())
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`threads`: %d were asked for in a process made by fork from one that used several; they are "
                         "not in the copy: give `threads` 1 there, or start a process of its own",
                         asked);
    const int wanted = asked > 0 ? asked : is_forked() ? 1 : omp_get_max_threads();
    if (wanted > THREADS_MOST)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "%d threads are set for all of this process, %d are the most; give `threads`", wanted,
                         THREADS_MOST);
    return wanted - 1 <= atomic_load(&startable) ? NPMD_OK : threads_start(wanted, err);
}

npmd_status compute_check(const npmd_compute *how, npmd_error *err)
{
    return threads_check(how == NULL ? 0 : how->threads, err);
}
