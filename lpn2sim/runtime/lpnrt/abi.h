/* The C interface of a compiled simulator.
 *
 * A compiled net is a shared library that exports
 *     const lpn_sim_api *lpn_sim_entry(void);
 * Any number of instances may live in one process; instances share nothing. Calls on one instance
 * must not overlap. Places, transitions and parameters are numbered in the order of their
 * declaration; lpn_sim_api.names spells them. Times are ticks.
 */
#ifndef LPNRT_ABI_H
#define LPNRT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LPN_SIM_ABI 7

typedef struct lpn_sim lpn_sim; /* one running net */

enum lpn_status {
  LPN_OK = 0,
  LPN_FAULT = 1,     /* the run met an error: see lpn_sim_api.fault */
  LPN_BAD_PARAM = 2, /* a parameter is outside its range, or gives servers < 1, a negative count, a
                        period < 1, ... */
  LPN_FULL = 3, /* a place holds more at the start than its capacity: lpn_fault.value is which */
  LPN_LATE = 4, /* a token pushed for an instant already simulated */
  LPN_BAD_VALUE = 5, /* a token value outside its property's range */
  LPN_BAD_CALL = 6,  /* no such place, or a call in the wrong order */
  LPN_NO_MEMORY = 7,
  LPN_NO_ROOM = 8, /* no free slot in a place with a capacity */
  LPN_OVER = 9     /* stopped by its budget, or out of memory: `run` tells how far it came */
};

enum lpn_ending {
  LPN_QUIET = 0,
  LPN_DONE = 1,
  LPN_LIMIT = 2,
  LPN_STOPPED = 3 /* before its end, see lpn_result.stop; `run` only repeats it from then on */
};

/* Why a run was stopped: lpn::Stop. */
enum lpn_stop {
  LPN_STOP_NONE = 0,
  LPN_STOP_ASKED = 1,   /* the poll function asked for it */
  LPN_STOP_MEMORY = 2,  /* lpn_budget.memory, or the machine has no more */
  LPN_STOP_SECONDS = 3, /* lpn_budget.nanoseconds */
  LPN_STOP_GROUPS = 4,
  LPN_STOP_FIRINGS = 5,
  LPN_STOP_TOKENS = 6
};

/* How runs are made. The results are the same. */
enum lpn_mode {
  LPN_AUTO = 0,
  LPN_EVENTS = 1,    /* event-driven only */
  LPN_ORDER_FREE = 2 /* order-free also where LPN_AUTO would not: with an observer, whose commits
                        are then kept in memory until the end */
};

typedef struct {
  int32_t ending; /* enum lpn_ending */
  int32_t stalled;
  int32_t has_latency;
  int64_t latency;
  int64_t last_commit;
  uint64_t commits;
  uint64_t done_tokens;
  int32_t order_free; /* 1: made without a queue of events; -1: tried, and left to the events */
  int32_t stop;       /* enum lpn_stop, with LPN_STOPPED */
} lpn_result;

/* Called now and then, some hundred times a second and also within an instant, with the time and
   the commits so far; not 0: stop. */
typedef int32_t (*lpn_poll)(void* user, int64_t time, uint64_t commits);

/* What an instance may use; 0: any. Looked at every few thousand steps. A run that needs more is
   answered with LPN_STOPPED, as far as it came. */
typedef struct {
  uint64_t memory;      /* bytes of its tokens and firings */
  uint64_t nanoseconds; /* spent in its calls, of wall time */
  uint64_t groups;      /* at one instant; more than 2^20 are an error anyway */
  uint64_t firings;     /* that commit at one instant */
  uint64_t tokens;      /* at the start, of the net and of `load` */
  lpn_poll poll;        /* may be NULL */
  void* user;
} lpn_budget;

/* lpn_fault.fault counts from 0 in these (docs/errors.md): const char* codes[] = {LPN_FAULT_CODES}
 */
#define LPN_FAULT_CODES                                                                       \
  "E-overflow", "E-divisor", "E-negative-delay", "E-negative-weight", "E-negative-count",     \
      "E-negative-interval", "E-too-many", "E-range", "E-lookup", "E-token-index", "E-empty", \
      "E-assume", "E-takes-nothing", "E-zero-delay", "E-shift"

/* Which formula of the transition; of an arc: its number among the inputs or, for LPN_AT_COUNT and
   LPN_AT_FIELD, the outputs, and there the emission and the property. */
enum lpn_site {
  LPN_AT_WEIGHT = 0,
  LPN_AT_THRESHOLD = 1,
  LPN_AT_GUARD = 2,
  LPN_AT_DELAY = 3,
  LPN_AT_INTERVAL = 4,
  LPN_AT_COUNT = 5,
  LPN_AT_FIELD = 6,
  LPN_AT_NONE = 7 /* no formula: groups without end, a time behind the last one */
};

typedef struct {
  int32_t fault; /* of LPN_FAULT_CODES */
  int64_t time;
  uint64_t group;
  uint32_t transition;
  uint32_t site_kind, site_arc, site_emission, site_field; /* enum lpn_site */
  int64_t value; /* the one that is wrong, where there is one */
} lpn_fault;

/* When something commits. */
typedef struct {
  int64_t time;
  uint64_t group;
} lpn_instant;

/* What the net itself does with a place: bits of lpn_sim_api.place_flags. */
enum lpn_place_flag {
  LPN_PLACE_READ = 1,    /* has an input arc; the outside cannot take from it */
  LPN_PLACE_FED = 2,     /* has an output arc */
  LPN_PLACE_BOUNDED = 4, /* has a capacity */
  LPN_PLACE_START = 8,
  LPN_PLACE_DONE = 16,
  LPN_PLACE_SINK = 32
};

/* `count` tokens with consecutive indices. */
typedef struct {
  uint32_t input; /* the input arc they were taken over */
  uint32_t initial;
  uint32_t source;
  uint32_t arc;
  uint64_t firing;
  uint64_t index;
  uint64_t count;
} lpn_token_run;

typedef struct {
  int64_t time;
  uint64_t group;
  uint32_t transition;
  uint64_t firing;
  int64_t start;
  const lpn_token_run* taken;
  uint64_t taken_runs;
  const uint64_t* produced; /* per output arc */
} lpn_commit;

typedef void (*lpn_observer)(void* user, const lpn_commit* commit);

/* Why a transition did not start. */
enum lpn_wait {
  LPN_WAIT_NONE = 0, /* it could */
  LPN_WAIT_TOKEN = 1,
  LPN_WAIT_CREDIT = 2, /* the place it would fill has no free slot */
  LPN_WAIT_GUARD = 3,
  LPN_WAIT_INHIBITED = 4,
  LPN_WAIT_SERVER = 5,
  LPN_WAIT_INTERVAL = 6,
  LPN_WAIT_CLOCK = 7
};

typedef struct {
  uint64_t commits;
  int64_t busy;
  int64_t waited[8]; /* by enum lpn_wait */
} lpn_transition_stats;

typedef struct {
  double mean;
  uint64_t peak;
} lpn_place_stats;

/* The critical path: the chain of firings that decided the latency. Its rows add up to it. */
enum lpn_path_kind {
  LPN_PATH_DELAY = 0,    /* of a transition: `count` firings of the chain took `cycles` */
  LPN_PATH_INTERVAL = 1, /* of a transition: waiting for its interval to pass */
  LPN_PATH_CLOCK = 2,    /* of a transition: waiting for its clock's edge */
  LPN_PATH_PUSHED = 3    /* of a place: waiting for a token, or a slot, from outside */
};
typedef struct {
  int32_t kind;   /* enum lpn_path_kind */
  uint32_t index; /* of the transition or place */
  uint64_t count;
  int64_t cycles;
} lpn_path_row;

/* Why a firing of the path started when it did. */
enum lpn_cause {
  LPN_BY_NOTHING = 0,  /* it could start at 0 */
  LPN_BY_TOKEN = 1,    /* a commit that appended a token or gave back a slot */
  LPN_BY_SERVER = 2,   /* a commit that freed a server */
  LPN_BY_CHANGE = 3,   /* a commit at a place whose emptiness or occupancy it reads */
  LPN_BY_INTERVAL = 4, /* its start before this one, and the interval */
  LPN_BY_ORDER = 5,    /* the start of a firing that took from the same place before it */
  LPN_BY_PUSH = 6,     /* not a firing: a token, or a slot, from outside */
  LPN_BY_ORDERED = 7   /* committed late, with the firing before it (ordered) */
};
typedef struct {
  uint32_t index;    /* of the transition; of the place with LPN_BY_PUSH */
  int32_t cause;     /* enum lpn_cause; the next step is what did it */
  int32_t to_commit; /* 0: the path leaves this firing at its start */
  int64_t start,
      commit; /* with LPN_BY_ORDERED it counts from the commit before: no cycles are its */
} lpn_path_step;

typedef struct lpn_sim_api {
  uint32_t abi; /* LPN_SIM_ABI */
  /* bit 0: keeps token identities for an observer (LPNRT_TRACE); bit 1: keeps statistics
     (LPNRT_STATS); bit 2: whole runs can be order-free; bit 3: keeps the critical path
     (LPNRT_PATH). The source of a net (lpn compile -o FILE.cc) becomes a variant with
     -DLPNRT_...=1, not both of the bits 1 and 3. */
  uint32_t variant;
  uint32_t params, places, transitions;
  /* NUL-terminated names: the net, parameters, places, transitions, the properties of each place */
  const char* names;
  const uint32_t* place_fields; /* number of properties per place */
  const int64_t* param_defaults;
  const uint32_t* place_flags; /* enum lpn_place_flag */
  /* Per property of each place, in the order of their names: least and greatest value. */
  const int64_t *range_lo, *range_hi;
  const int64_t *param_lo, *param_hi; /* least and greatest value of each parameter */
  int64_t frequency;                  /* ticks a second, as the net states them; 0: it does not */

  /* A new instance; params may be NULL for the defaults. NULL and *status on error. */
  lpn_sim* (*create)(const int64_t* params, int32_t* status);
  void (*destroy)(lpn_sim*);

  /* Initial tokens, row-major, before the first run; may be called several times per place. */
  int32_t (*load)(lpn_sim*, uint32_t place, uint64_t count, const int64_t* values);
  /* The run ends once so many tokens were produced into done places; -1: the net's own rule;
     less: only when it is quiet. */
  int32_t (*set_done)(lpn_sim*, int64_t count);
  int32_t (*set_observer)(lpn_sim*, lpn_observer, void* user);
  int32_t (*set_mode)(lpn_sim*, int32_t mode); /* enum lpn_mode; before the first run */
  int32_t (*set_poll)(lpn_sim*, lpn_poll, void* user);

  /* Simulates every instant <= limit (INT64_MAX: to the end). May be called again. */
  int32_t (*run)(lpn_sim*, int64_t limit, lpn_result*);
  /* Runs instances of this net to their ends, as `run` with INT64_MAX would: results[k] and
     statuses[k] are of sims[k]. Inputs of a static net go in lock step through vector registers,
     the rest one after the other; `threads` (0: as many as there are processors) share them.
     Of places that nothing takes from, `tokens` may then tell the number only (0 with values).
     *layout, where not NULL: nanoseconds, of all threads together, that were spent on laying
     inputs side by side, which is done once per batch. */
  void (*run_batch)(lpn_sim* const* sims, uint64_t count, uint32_t threads, lpn_result* results,
                    int32_t* statuses, uint64_t* layout);
  /* A token that arrives at `time`, before the first group of that instant. Into a place with a
     capacity it takes a slot at once: the caller is the producer, whose firing starts now and
     commits at `time`. LPN_NO_ROOM: no slot is free. LPN_LATE: `time` was simulated. */
  int32_t (*push)(lpn_sim*, uint32_t place, const int64_t* values, int64_t time);

  int64_t (*now)(const lpn_sim*);
  /* Free tokens of a place; values, row-major, go to `values` when it is not NULL. */
  uint64_t (*tokens)(const lpn_sim*, uint32_t place, int64_t* values);
  void (*fault)(const lpn_sim*, lpn_fault*);
  int32_t (*stats)(const lpn_sim*, lpn_transition_stats*, lpn_place_stats*, int64_t* end);

  /* ---- Inside another simulator (docs/tutorial/embedding.md) ---- */

  /* Nothing happens before this time unless something is pushed or released; 0 before the first
     run, INT64_MAX when nothing is to come. */
  int64_t (*next)(const lpn_sim*);
  /* Free slots of a place with a capacity; INT64_MAX without one. Slots are held from the start of
     a producer to the commit of a consumer. */
  int64_t (*room)(const lpn_sim*, uint32_t place);
  /* Takes slots without a token, now; LPN_NO_ROOM when there are less. */
  int32_t (*hold)(lpn_sim*, uint32_t place, uint64_t count);
  /* Gives back, at `time`, slots that the caller holds: of `hold`, or of tokens it took. */
  int32_t (*release)(lpn_sim*, uint32_t place, uint64_t count, int64_t time);
  /* Before the first run: a place that the net does not read keeps when its tokens arrived. */
  int32_t (*collect)(lpn_sim*, uint32_t place);
  /* Removes up to `most` tokens from the front of a place that the net does not read. Row-major
     values and, of a collecting place, instants, where not NULL. A slot of a token stays with the
     caller, who is the consumer, until `release`. */
  int32_t (*take)(lpn_sim*, uint32_t place, uint64_t most, int64_t* values, lpn_instant* when,
                  uint64_t* taken);

  /* Group by group, for nets that share instants: enter, then commit and start until no net has
     more. Until the next `enter` or `run` the instant is under way: `push` and `release` at its
     time act at once and are seen by the next start; after the last one, commit and start again.
     `run` completes the instant. The number of done tokens ends nothing here. */

  /* Goes to `time`: 0 at first, then now < time <= next(). LPN_LATE, LPN_BAD_CALL: it is not. */
  int32_t (*enter)(lpn_sim*, int64_t time);
  /* Commits the next group: what is due in it, perhaps nothing. */
  int32_t (*commit)(lpn_sim*);
  /* Starts whatever is ready; *more: whether a firing is due in the next group. */
  int32_t (*start)(lpn_sim*, int32_t* more);

  /* ---- The critical path (variant bit 3) ---- */

  /* Before the first run: halves the delays and intervals of a transition, rounded up. */
  int32_t (*halve)(lpn_sim*, uint32_t transition);
  /* Before the first run: bytes that may be used for it, 256 MiB if not called. */
  int32_t (*set_path_budget)(lpn_sim*, uint64_t bytes);
  /* After a run: the path to the last done token or, without done places, to the last commit. On
     entry *row_count and *step_count are the room in the arrays (which may be NULL), on return how
     many there are. Steps go backwards from the last one; a long path has only its last steps.
     LPN_NO_MEMORY: the budget was not enough. */
  int32_t (*path)(const lpn_sim*, lpn_path_row* rows, uint64_t* row_count, lpn_path_step* steps,
                  uint64_t* step_count);

  /* ---- Nets of strangers ---- */

  /* As create, within a budget that holds from then on; budget may be NULL. LPN_OVER: the net's own
     tokens are too many, *stop (may be NULL) says for what. */
  lpn_sim* (*create_within)(const int64_t* params, const lpn_budget* budget, int32_t* status,
                            int32_t* stop);

  /* ---- Open-loop traffic ---- */

  /* Tokens that arrive at `times`, never falling, each as one that is pushed, into a place without
     a capacity; of one instant before those of `push`. May be called again, also between runs, with
     later ones. LPN_LATE: a time was simulated, or is before one that was fed into the place.
     LPN_BAD_CALL: the place has a capacity. */
  int32_t (*feed)(lpn_sim*, uint32_t place, uint64_t count, const int64_t* values,
                  const int64_t* times);

  /* Tokens of a place, those that a firing in flight will take away included; of a place that the
     net only takes from and puts into the free ones alone, without variant bit 1. */
  uint64_t (*occupancy)(const lpn_sim*, uint32_t place);
} lpn_sim_api;

#ifdef __cplusplus
}
#endif

#endif
