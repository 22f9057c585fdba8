/* faults.h - calls of the library to the C library that fail on demand.
 *
 * The test program is linked with --wrap: what the objects of the library ask of malloc, write, rename and
 * their like comes here first. What OpenMP, libpng and the C library allocate for themselves is theirs to
 * check and never fails here. */
#ifndef NPMD_TEST_FAULTS_H
#define NPMD_TEST_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum fault_call {
    FAULT_MEMORY, /* any allocation */
    FAULT_OPEN,
    FAULT_STAT, /* fstat */
    FAULT_READ,
    FAULT_WRITE,
    FAULT_CHMOD, /* fchmod */
    FAULT_SYNC,  /* fsync */
    FAULT_CLOSE, /* reports a failure, and closes all the same */
    FAULT_RENAME,
    FAULT_CALLS
} fault_call;
extern const char *const FAULT_NAME[FAULT_CALLS];

typedef struct fault {
    fault_call call;
    long at;      /* counted from 1 since faults_arm; 0: none fails */
    bool onwards; /* all later ones fail, too */
    bool branch;  /* see below */
    long stride;  /* of the calls that fail with branch set; 0: each one */
    int reason;   /* errno */
    size_t most;  /* a read or write moves at most so many bytes; 0: all that is asked for */
} fault;

void faults_arm(fault what);
long faults_disarm(void); /* how many calls failed */
long faults_calls(void);  /* since faults_arm, of the kind that was named */

/* With branch set no call fails here. At each one the process splits: two children go on from there, in one
 * of which it fails, in the other one all later ones as well, and then the parent does. So an operation is
 * done once and not once a call; but it must not have begun to write a file, which all would share, nor have
 * started threads, which a child has not. A child ends by faults_leave. */
typedef enum fault_verdict { FAULT_REPORTED, FAULT_BORNE, FAULT_WRONG } fault_verdict;
typedef struct fault_branches {
    long calls, borne[2], wrong; /* calls that failed in children; verdicts: borne once, borne onwards, wrong */
} fault_branches;
bool faults_in_child(fault *what); /* and which call failed there */
_Noreturn void faults_leave(fault_verdict v);
fault_branches faults_branched(void); /* since faults_arm */

/* Taken while armed and not given back since, armed or not. */
size_t faults_blocks(void);
int faults_descriptors(void);

#endif
