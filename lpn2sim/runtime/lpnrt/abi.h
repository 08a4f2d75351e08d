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

#define LPN_SIM_ABI 1

typedef struct lpn_sim lpn_sim; /* one running net */

enum lpn_status {
  LPN_OK = 0,
  LPN_FAULT = 1,     /* the run met an error: see lpn_sim_api.fault */
  LPN_BAD_PARAM = 2, /* a parameter value gives servers < 1, a negative count, a period < 1, ... */
  LPN_FULL = 3,      /* a place holds more tokens at the start than its capacity */
  LPN_LATE = 4,      /* a token pushed for an instant already simulated */
  LPN_BAD_VALUE = 5, /* a token value outside its property's range */
  LPN_BAD_CALL = 6,  /* no such place, or a call in the wrong order */
  LPN_NO_MEMORY = 7
};

enum lpn_ending { LPN_QUIET = 0, LPN_DONE = 1, LPN_LIMIT = 2 };

typedef struct {
  int32_t ending; /* enum lpn_ending */
  int32_t stalled;
  int32_t has_latency;
  int64_t latency;
  int64_t last_commit;
  uint64_t commits;
  uint64_t done_tokens;
} lpn_result;

typedef struct {
  int32_t fault; /* lpn::Fault */
  int64_t time;
  uint64_t group;
  uint32_t transition;
  uint32_t site_kind, site_arc, site_emission, site_field; /* lpn::Site */
  int64_t value;
} lpn_fault;

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
  const lpn_token_run *taken;
  uint64_t taken_runs;
  const uint64_t *produced; /* per output arc */
} lpn_commit;

typedef void (*lpn_observer)(void *user, const lpn_commit *commit);

typedef struct {
  uint64_t commits;
  int64_t busy;
  int64_t waited[8]; /* by lpn::Wait */
} lpn_transition_stats;

typedef struct {
  double mean;
  uint64_t peak;
} lpn_place_stats;

typedef struct lpn_sim_api {
  uint32_t abi;      /* LPN_SIM_ABI */
  uint32_t variant;  /* bit 0: keeps token identities for an observer; bit 1: keeps statistics */
  uint32_t params, places, transitions;
  const char *names; /* NUL-terminated names: the net, parameters, places, transitions */
  const uint32_t *place_fields; /* number of properties per place */
  const int64_t *param_defaults;

  /* A new instance; params may be NULL for the defaults. NULL and *status on error. */
  lpn_sim *(*create)(const int64_t *params, int32_t *status);
  void (*destroy)(lpn_sim *);

  /* Initial tokens, row-major, before the first run; may be called several times per place. */
  int32_t (*load)(lpn_sim *, uint32_t place, uint64_t count, const int64_t *values);
  /* The run ends once so many tokens were produced into done places; < 0: the net's own rule. */
  int32_t (*set_done)(lpn_sim *, int64_t count);
  int32_t (*set_observer)(lpn_sim *, lpn_observer, void *user);

  /* Simulates every instant <= limit (INT64_MAX: to the end). May be called again. */
  int32_t (*run)(lpn_sim *, int64_t limit, lpn_result *);
  /* A token that arrives at `time`, before the first group of that instant. */
  int32_t (*push)(lpn_sim *, uint32_t place, const int64_t *values, int64_t time);

  int64_t (*now)(const lpn_sim *);
  /* Free tokens of a place; values, row-major, go to `values` when it is not NULL. */
  uint64_t (*tokens)(const lpn_sim *, uint32_t place, int64_t *values);
  void (*fault)(const lpn_sim *, lpn_fault *);
  int32_t (*stats)(const lpn_sim *, lpn_transition_stats *, lpn_place_stats *, int64_t *end);
} lpn_sim_api;

#ifdef __cplusplus
}
#endif

#endif
