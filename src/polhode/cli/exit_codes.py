"""What the exit codes of the commands mean."""

FINE = 0
UNCERTIFIED = 1
BAD_INPUT = 2
NUMERICAL_FAILURE = 3
CLUSTER_LOST = 4
BUG = 70
INTERRUPTED = 130

EXIT_CODES = {
    FINE: "success",
    UNCERTIFIED: "certify measured a method and found a declared fact false",
    BAD_INPUT: "bad input, found before anything is computed: an argument, a scenario, a file; "
    "or a file that cannot be written",
    NUMERICAL_FAILURE: "numerical failure: blow-up, an equation without solution, a torque that failed; "
    "earlier results are kept; or certify could not measure a declared fact and found none false",
    CLUSTER_LOST: "a cluster was lost or has no workers; finished parts are stored",
    BUG: "a bug in polhode; POLHODE_DEBUG=1 shows where",
    129: "ended by SIGHUP, for example when the terminal is closed; results so far are kept",
    INTERRUPTED: "interrupted by Ctrl-C; results so far are kept",
    143: "ended by SIGTERM; results so far are kept",
}
