/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The benchmark's parts: a loop of system calls in a child (loop.c), child
 * processes with their output (process.c), what is measured on that loop
 * (contender.c), start-up and size (startup.c), ebql's own CPU time (user.c), figures
 * to tables (report*.c).
 * bench.c drives them.
 */
#ifndef EBQL_BENCH_H
#define EBQL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

typedef uint64_t u64;

struct config {
	const char *ebql;     /* the binary */
	const char *object;   /* handwritten.bpf.o */
	const char *results;  /* Markdown file to write, or NULL */
	const char *bpftrace; /* NULL: not there, left out */
	const char *examples; /* the folder examples/histograms */
	int n_rounds, n_starts;
	u64 batch_ns;
	int loop_cpu, other_cpu; /* the loop runs on one, all other user space on the other */
	pid_t traced_pid;	 /* of whose calls the queries are */
	bool is_debug;
	const char *only; /* NULL, or "count", "pair", "user" or "many": which contenders */
};

extern struct config config;

/* tool.c */
/* Ends the program; the children end with it. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void pin_to_cpu(int cpu);
u64 monotonic_ns(void);
u64 realtime_ns(void);
void sleep_ns(u64 ns);
/* Sorts; the mean of the middle two of an even number. NAN of none. */
double median(double *values, size_t n);
double quantile(double *values, size_t n, double q);

/* loop.c */
enum loop_call { LOOP_PREAD, LOOP_GETPPID };

struct loop_result {
	u64 calls;
	double ns_per_call; /* median of chunks of LOOP_CHUNK calls: pre-emption drops out */
};

#define LOOP_CHUNK 256

void loop_start(void);
void loop_stop(void);
pid_t loop_pid(void);
struct loop_result loop_batch(enum loop_call call, u64 duration_ns);
/* A loop of preads until loop_busy_end(), which gives the number of calls made. */
void loop_busy_begin(void);
/* pread64 with pos = 0, 1, ... n - 1 once each period, until loop_busy_end(). */
void loop_paced_begin(int n, u64 period_ns);
u64 loop_busy_end(void);

/* process.c */
struct process {
	pid_t pid;
	int fds[2];	/* its stdout, stderr; -1 at the end */
	char *texts[2]; /* all of it so far, 0-terminated */
	size_t sizes[2];
	u64 start_ns; /* just before fork, CLOCK_MONOTONIC */
	int status;   /* as wait4() gave */
	struct rusage usage;
};

void process_start(struct process *p, const char *const *argv);
/* True when the stream (0: stdout, 1: stderr) has the text; false at its end or after timeout. */
bool process_wait_text(struct process *p, int stream, const char *text, u64 timeout_ns);
void process_finish(struct process *p, int signal); /* signal 0: ends by itself */
void process_free(struct process *p);
u64 process_cpu_ns(const struct process *p); /* so far, all threads */
u64 process_peak_rss_kib(const struct process *p);
/* stdout of a short command. */
char *process_output(const char *const *argv);

/* contender.c */
enum contender_kind { KIND_LIBBPF, KIND_BPFTRACE, KIND_EBQL };
enum contender_set {
	SET_COUNT, /* Figure 12 */
	SET_PAIR,  /* latencies of pread64 */
	SET_STATE, /* aggregates with more state than a number */
};

struct contender {
	const char *id, *name;
	enum contender_kind kind;
	const char *text; /* program in the object; script; access path, else the query */
	bool is_counting; /* the query, not just an empty program */
	enum contender_set set;
	const char *second; /* of a pair: the program at the system call's end */
};

struct attached {
	const struct contender *contender;
	struct bpf_object *object;
	struct bpf_link *links[2];
	struct process process;
	unsigned int n_insns;
	double compile_ms, load_ms, attach_ms; /* what ebql says, else NAN */
	u64 counted, lost;		       /* after detach */
};

enum contender_at {
	EMPTY_TRACEPOINT,
	EMPTY_RAW,
	HAND_TRACEPOINT,
	HAND_RAW,
	BPFTRACE,
	BPFTRACE_STATS,
	EBQL_TRACEPOINT,
	EBQL_RAW,
	PAIR_FLOOR,
	PAIR_HAND,
	PAIR_HAND_GROUPED,
	PAIR_BPFTRACE,
	PAIR_BPFTRACE_GROUPED,
	PAIR_EBQL,
	PAIR_EBQL_EXPONENTIAL,
	PAIR_EBQL_LOGLINEAR,
	PAIR_EBQL_GROUPED,
	STATE_COUNT,
	STATE_RUNNING,
	STATE_FIRST_LAST,
	STATE_STDDEV,
	STATE_DISTINCT,
	STATE_TOP,
	N_CONTENDERS
};

extern const struct contender contenders[N_CONTENDERS];

bool contender_is_there(const struct contender *c);
void contender_attach(struct attached *a, const struct contender *c);
/* Ends it, and fills counted and lost. */
void contender_detach(struct attached *a);
/* Figure 12's text, with a window of so many ms. */
char *contender_figure12(const char *access_path, unsigned int window_ms);
char *contender_bpftrace_script(const struct contender *c);

/* bench.c: one measurement of one contender in one round */
#define STEADY_GAP 0.04

struct sample {
	double base_ns, base_other_ns; /* untraced: mean of just before and just after */
	double base_gap;	       /* of before and after: |a - b| / mean */
	double cost_ns, cost_other_ns;
	int n_repeats;
	bool is_disturbed; /* others traced meanwhile */
	u64 made, counted, lost;
	double compile_ms, load_ms, attach_ms;
	unsigned int n_insns;
};

/* Per call of pread64 when nothing traces it; waits for the end of what others trace. */
double untraced_ns(void);

/* startup.c */
struct startup {
	double first_row_ms[3];	   /* median, p10, p90: a streamed row's own time */
	double first_window_ms[3]; /* end of the first 1 ms window with events: upper bound */
	double bpftrace_ms[3];
	double command_ms[3]; /* whole `ebql ... LIMIT 1`, fork to exit */
};

struct footprint {
	u64 peak_rss_kib;
	double start_cpu_ms, cpu_percent; /* until attached; then of one CPU */
	u64 counted, made, lost;
};

void startup_measure(struct startup *ret);
/* Runs one contender for the time on a busy loop. */
void footprint_measure(const struct contender *c, u64 duration_ns, struct footprint *ret);

/* user.c */
enum { N_USER_CASES = 7 };

struct user_case {
	const char *name;
	int n_groups, goal_percent; /* goal 0: none */
	const char *text;	    /* of the query; %1$d: the loop's pid */
};

struct user_result {
	u64 groups, n_windows, n_full, lost, peak_rss_kib;
	double cpu_percent, events_per_s;
};

extern const struct user_case user_cases[N_USER_CASES];

/* Each case for so long. */
void user_measure(u64 duration_ns, struct user_result *ret_results);

/* many.c */
enum { N_MANY = 14 };

enum many_set { MANY_EVENT, MANY_LATENCY, MANY_CALLS, N_MANY_SETS };

enum many_at {
	MANY_EBQL_1,
	MANY_WATCH_1,
	MANY_WATCH_14,
	MANY_EBQL_14,
	MANY_BPFTRACE_1,
	MANY_BPFTRACE_BODIES,
	MANY_BPFTRACE_14,
	N_MANY_WAYS
};

struct many_way {
	const char *name;
	enum contender_kind kind;
	bool is_watch;
	int n_processes, n_queries; /* of each */
};

struct many_sample {
	double cost_ns, gap_ns; /* of the untraced batches before and after */
	double difference;	/* counted less made */
};

struct many_stress {
	double cpu_percent, counted_per_s;
	u64 counted, missed, peak_rss_kib;
};

extern const char *const many_set_names[N_MANY_SETS];
extern const struct many_way many_ways[N_MANY_WAYS];

/* They take long: a third of the others' rounds. */
int many_n_rounds(void);
bool many_is_there(enum many_at way);
static inline struct many_sample *many_sample(struct many_sample *samples, int round, int set,
					      int way)
{
	return &samples[(round * N_MANY_SETS + set) * N_MANY_WAYS + way];
}
void many_measure(struct many_sample *samples);
/* The examples under stress for so long: in one process, and in one each. */
void many_measure_stress(u64 duration_ns, struct many_stress ret_stresses[2]);

/* stress.c */
void stress_begin(void);
void stress_end(void);

/* report.c */
struct report {
	struct sample *samples; /* [round * N_CONTENDERS + contender] */
	struct startup startup;
	struct footprint footprints[N_CONTENDERS];
	struct user_result user[N_USER_CASES];
	struct many_sample *many;
	struct many_stress stresses[2];
};

void report_write(const struct report *r, FILE *out);
double *report_column(const struct report *r, int contender, size_t member);

/* report_pair.c */
void report_put_pairs(const struct report *r, FILE *out);

/* report_user.c */
void report_put_user(const struct report *r, FILE *out);

/* report_many.c */
void report_put_many(const struct report *r, FILE *out);

#endif
