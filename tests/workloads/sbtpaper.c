// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Programs modelled on the pC++ benchmarks that Shanmugam, Malony and Mohr extrapolate (Performance
// Extrapolation of Parallel Programs, 1995, section 4, table 2). Each distributes its data to the
// threads as the original does, and reports the owner of the data that it reads (SBT_READ). They
// compute what they are named after. The result does not depend on the number of threads.
//
//   embar    pairs of random numbers, counted by their distance from the middle
//   cyclic   a block tridiagonal system by cyclic reduction; the equations of each level are
//            distributed anew
//   sparse   a random sparse system by conjugate gradients
//   grid     Poisson's equation on a plane with (BLOCK, BLOCK) distribution, by Jacobi's iteration
//   mgrid    as `grid`, by V-cycles over planes of half the size each time
//   poisson  Poisson's equation by sine transforms of rows and columns, with transpositions between
//   sort     bitonic sort; the number of threads must be a power of 2
//
// sbtpaper NAME THREADS prints a checksum that does not depend on THREADS, because sums are
// computed in a fixed order.
#include "common.h"
#include "sbt.h"

#include <math.h>
#include <stdbool.h>

#define MAX_THREADS 64

static pthread_barrier_t barrier;
static uint32_t threads;

/* Side of the largest square of threads. A plane is distributed to the threads of this square. */
static uint32_t side;

ONE_COPY static void meet(void)
{
	serial(pthread_barrier_wait(&barrier));
}

static inline void ask(uint32_t me, uint32_t owner, size_t bytes)
{
	if (owner != me)
		SBT_READ(owner, bytes);
}

/*
 * Return the first of @size elements that thread @i of @n has in a block distribution. If @i is @n,
 * return @size.
 */
static uint32_t first_of(uint32_t size, uint32_t n, uint32_t i)
{
	return (uint32_t)((uint64_t)size * i / n);
}

static double *doubles(size_t n)
{
	return (double *)must_alloc(n, sizeof(double));
}

/* Return a number in [0, 1). */
static double random_of(uint64_t x)
{
	return (double)(mix64(x) >> 11) / 9007199254740992.0;
}

/* --- embar ------------------------------------------------------------------------------------ */

#define PAIRS (1U << 24)
#define RINGS 10

static uint64_t rings[MAX_THREADS][RINGS + 6];

static void embar(uint32_t me)
{
	uint64_t mine[RINGS] = { 0 };

	for (uint32_t i = first_of(PAIRS, threads, me); i < first_of(PAIRS, threads, me + 1); i++) {
		double x = 2 * random_of(2ULL * i) - 1, y = 2 * random_of(2ULL * i + 1) - 1;

		mine[(uint32_t)(sqrt((x * x + y * y) / 2) * RINGS)]++;
	}
	memcpy(rings[me], mine, sizeof(mine));
	meet();
}

static uint64_t embar_result(void)
{
	uint64_t sum[RINGS] = { 0 };

	for (uint32_t t = 0; t < threads; t++)
		for (uint32_t r = 0; r < RINGS; r++)
			sum[r] += rings[t][r];
	return checksum(sum, sizeof(sum));
}

/* --- cyclic ----------------------------------------------------------------------------------- */

#define EQUATIONS 255
#define BLOCK	  32
#define ENTRIES	  (BLOCK * BLOCK)

struct equation {
	double left[ENTRIES], middle[ENTRIES], right[ENTRIES], value[BLOCK], x[BLOCK];
};

static struct equation *equations;

/* Compute y -= a * x, for blocks with @columns columns. */
static void block_subtract(double *y, const double *a, const double *x, uint32_t columns)
{
	for (uint32_t i = 0; i < BLOCK; i++)
		for (uint32_t k = 0; k < BLOCK; k++)
			for (uint32_t j = 0; j < columns; j++)
				y[i * columns + j] -= a[i * BLOCK + k] * x[k * columns + j];
}

/*
 * Compute to = from * inverse(m), by Gauss elimination of the transposed matrices. m is diagonally
 * dominant.
 */
static void block_divide(double *to, const double *from, const double *m)
{
	double a[ENTRIES], b[ENTRIES];

	for (uint32_t i = 0; i < BLOCK; i++) {
		for (uint32_t j = 0; j < BLOCK; j++) {
			a[i * BLOCK + j] = m[j * BLOCK + i];
			b[i * BLOCK + j] = from[j * BLOCK + i];
		}
	}
	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t i = 0; i < BLOCK; i++) {
			double f = a[i * BLOCK + k] / a[k * BLOCK + k];

			if (i == k)
				continue;
			for (uint32_t j = 0; j < BLOCK; j++) {
				a[i * BLOCK + j] -= f * a[k * BLOCK + j];
				b[i * BLOCK + j] -= f * b[k * BLOCK + j];
			}
		}
	}
	for (uint32_t i = 0; i < BLOCK; i++)
		for (uint32_t j = 0; j < BLOCK; j++)
			to[j * BLOCK + i] = b[i * BLOCK + j] / a[i * BLOCK + i];
}

/*
 * Eliminate the neighbour @n from @e. @e is then coupled to the next neighbour beyond @n instead.
 */
static void take_out(struct equation *e, double *towards, const struct equation *n,
		     const double *back, const double *beyond)
{
	double f[ENTRIES];

	block_divide(f, towards, n->middle);
	block_subtract(e->middle, f, back, BLOCK);
	block_subtract(e->value, f, n->value, 1);
	memset(towards, 0, sizeof(n->left));
	block_subtract(towards, f, beyond, BLOCK);
}

static void reduce(uint32_t me, uint32_t stride)
{
	uint32_t half = stride / 2;

	for (uint32_t i = 0, e = stride - 1; e < EQUATIONS; e += stride, i++) {
		struct equation *q = &equations[e];

		if (i % threads != me)
			continue;
		ask(me, (2 * i) % threads, sizeof(*q));
		take_out(q, q->left, &equations[e - half], equations[e - half].right,
			 equations[e - half].left);
		if (e + half < EQUATIONS) {
			ask(me, (2 * i + 2) % threads, sizeof(*q));
			take_out(q, q->right, &equations[e + half], equations[e + half].left,
				 equations[e + half].right);
		}
	}
	meet();
}

/* Solve the equations between those that are already solved. */
static void substitute(uint32_t me, uint32_t stride)
{
	uint32_t half = stride / 2;

	for (uint32_t i = 0, e = half - 1; e < EQUATIONS; e += stride, i++) {
		struct equation *q = &equations[e];
		double rest[BLOCK], row[ENTRIES] = { 0 }, inverse[ENTRIES];

		if (i % threads != me)
			continue;
		memcpy(rest, q->value, sizeof(rest));
		if (e >= half) {
			ask(me, (e - half) / stride % threads, sizeof(rest));
			block_subtract(rest, q->left, equations[e - half].x, 1);
		}
		if (e + half < EQUATIONS) {
			ask(me, (e + half) / stride % threads, sizeof(rest));
			block_subtract(rest, q->right, equations[e + half].x, 1);
		}
		for (uint32_t k = 0; k < BLOCK; k++)
			row[k * BLOCK + k] = -1;
		block_divide(inverse, row, q->middle);
		memset(q->x, 0, sizeof(q->x));
		block_subtract(q->x, inverse, rest, 1);
	}
	meet();
}

static void cyclic_begin(void)
{
	equations = (struct equation *)must_alloc(EQUATIONS, sizeof(*equations));
	for (uint32_t e = 0; e < EQUATIONS; e++) {
		struct equation *q = &equations[e];

		for (uint32_t i = 0; i < ENTRIES; i++) {
			q->left[i] = e ? -random_of(e * 1000 + i) : 0;
			q->right[i] = e + 1 < EQUATIONS ? -random_of(e * 2000 + i) : 0;
			q->middle[i] = i % (BLOCK + 1) ? random_of(e * 3000 + i) : 4 * BLOCK;
		}
		/* Choose the right side so that the solution is 1 everywhere. */
		for (uint32_t i = 0; i < ENTRIES; i++)
			q->value[i / BLOCK] += q->left[i] + q->middle[i] + q->right[i];
	}
}

static void cyclic(uint32_t me)
{
	uint32_t stride;

	for (stride = 2; stride <= EQUATIONS; stride *= 2)
		reduce(me, stride);
	for (; stride >= 2; stride /= 2)
		substitute(me, stride);
}

static uint64_t cyclic_result(void)
{
	double off = 0;

	for (uint32_t e = 0; e < EQUATIONS; e++)
		for (uint32_t k = 0; k < BLOCK; k++)
			off = fmax(off, fabs(equations[e].x[k] - 1));
	if (!(off < 1e-9))
		die("cyclic: the solution is off by %g", off);
	return 1;
}

/* --- sparse ----------------------------------------------------------------------------------- */

#define ROWS	   8192
#define PER_ROW	   96
#define ITERATIONS 25

static uint32_t apart[PER_ROW / 2];
static double *sb, *sx, *sr, *sp, *sq;

/* Each thread computes its parts of a sum. The first thread adds them up in the order of rows. */
static double sum_up(uint32_t me, const double *a, const double *b)
{
	static double row_sums[ROWS / 64], total;

	for (uint32_t c = 0; c < ROWS / 64; c++) {
		if ((uint64_t)c * threads / (ROWS / 64) != me)
			continue;
		row_sums[c] = 0;
		for (uint32_t i = 64 * c; i < 64 * c + 64; i++)
			row_sums[c] += a[i] * b[i];
	}
	meet();
	if (!me) {
		total = 0;
		for (uint32_t t = 1; t < threads; t++)
			ask(me, t, 8);
		for (uint32_t c = 0; c < ROWS / 64; c++)
			total += row_sums[c];
	}
	meet();
	ask(me, 0, 8);
	return total;
}

static void sparse_begin(void)
{
	sb = doubles(ROWS);
	sx = doubles(ROWS);
	sr = doubles(ROWS);
	sp = doubles(ROWS);
	sq = doubles(ROWS);
	for (uint32_t k = 0; k < PER_ROW / 2; k++)
		apart[k] = 1 + (uint32_t)(mix64(k) % (ROWS / 2 - 1));
	for (uint32_t i = 0; i < ROWS; i++)
		sb[i] = sr[i] = sp[i] = random_of(i);
}

/*
 * The matrix has 2 in its diagonal, and -1 / PER_ROW on both sides of it, at the distances in
 * @apart.
 */
static double times_row(const double *x, uint32_t i)
{
	double y = 0;

	for (uint32_t k = 0; k < PER_ROW / 2; k++)
		y += x[(i + apart[k]) % ROWS] + x[(i + ROWS - apart[k]) % ROWS];
	return 2 * x[i] - y / PER_ROW;
}

static void sparse(uint32_t me)
{
	/* The rows are distributed in units of 64, like the sums. */
	uint32_t from = 64 * ((ROWS / 64 * me + threads - 1) / threads);
	uint32_t to = 64 * ((ROWS / 64 * (me + 1) + threads - 1) / threads);
	double rr = sum_up(me, sr, sr);

	for (uint32_t k = 0; k < ITERATIONS; k++) {
		double alpha, beta, next;

		for (uint32_t t = 1; t < threads; t++)
			ask(me, (me + t) % threads, 8 * ROWS / threads);
		for (uint32_t i = from; i < to; i++)
			sq[i] = times_row(sp, i);
		alpha = rr / sum_up(me, sp, sq);
		for (uint32_t i = from; i < to; i++) {
			sx[i] += alpha * sp[i];
			sr[i] -= alpha * sq[i];
		}
		next = sum_up(me, sr, sr);
		beta = next / rr;
		rr = next;
		for (uint32_t i = from; i < to; i++)
			sp[i] = sr[i] + beta * sp[i];
		meet();
	}
}

static uint64_t sparse_result(void)
{
	double off = 0;

	for (uint32_t i = 0; i < ROWS; i++)
		off = fmax(off, fabs(sb[i] - times_row(sx, i)));
	if (!(off < 1e-6))
		die("sparse: the solution is off by %g", off);
	return checksum(sx, ROWS * sizeof(*sx));
}

/* --- planes ----------------------------------------------------------------------------------- */

#define PLANE	 512
#define LEVELS	 8
#define JACOBI	 60
#define V_CYCLES 12

/*
 * A plane of size x size, with an edge of zeros around it. It has two copies, one of which is
 * computed from the other.
 */
struct plane {
	uint32_t size;
	double *u, *v, *f;
};

static struct plane planes[LEVELS];

static inline size_t at(const struct plane *p, uint32_t row, uint32_t column)
{
	return (size_t)(row + 1) * (p->size + 2) + column + 1;
}

static void planes_begin(void)
{
	for (uint32_t l = 0; l < LEVELS; l++) {
		struct plane *p = &planes[l];
		size_t n;

		p->size = PLANE >> l;
		n = (size_t)(p->size + 2) * (p->size + 2);
		p->u = doubles(n);
		p->v = doubles(n);
		p->f = doubles(n);
	}
	for (uint32_t i = 0; i < PLANE; i++)
		for (uint32_t j = 0; j < PLANE; j++)
			planes[0].f[at(&planes[0], i, j)] = random_of(i * PLANE + j) / PLANE;
}

struct share {
	uint32_t row, column, side; /* in the square of threads */
	uint32_t top, bottom, left, right; /* in the plane's elements */
	bool idle;
};

static struct share share_of(const struct plane *p, uint32_t me)
{
	uint32_t q = side < p->size ? side : p->size;
	struct share s = { .side = q, .idle = me >= q * q };

	if (s.idle)
		return s;
	s.row = me / q;
	s.column = me % q;
	s.top = first_of(p->size, q, s.row);
	s.bottom = first_of(p->size, q, s.row + 1);
	s.left = first_of(p->size, q, s.column);
	s.right = first_of(p->size, q, s.column + 1);
	return s;
}

static void ask_neighbours(uint32_t me, const struct share *s)
{
	size_t row = 8 * (s->right - s->left), column = 8 * (s->bottom - s->top);

	if (s->row)
		ask(me, me - s->side, row);
	if (s->row + 1 < s->side)
		ask(me, me + s->side, row);
	if (s->column)
		ask(me, me - 1, column);
	if (s->column + 1 < s->side)
		ask(me, me + 1, column);
}

/* Compute v from u, and u from v, with one episode each. */
ONE_COPY static void relax(uint32_t me, struct plane *p, uint32_t sweeps)
{
	struct share s = share_of(p, me);
	uint32_t w = p->size + 2;

	for (uint32_t k = 0; k < sweeps; k++) {
		const double *from = k % 2 ? p->v : p->u;
		double *to = k % 2 ? p->u : p->v;

		if (!s.idle)
			ask_neighbours(me, &s);
		for (uint32_t i = s.top; i < s.bottom; i++) {
			for (uint32_t j = s.left; j < s.right; j++) {
				size_t x = at(p, i, j);

				to[x] = 0.2 * from[x] + 0.2 * (from[x - 1] + from[x + 1] +
							       from[x - w] + from[x + w] + p->f[x]);
			}
		}
		meet();
	}
}

static void grid(uint32_t me)
{
	relax(me, &planes[0], JACOBI);
}

/* Compute the residual on the plane of half the size: each point from four points. */
static void coarsen(uint32_t me, const struct plane *fine, struct plane *coarse)
{
	struct share s = share_of(coarse, me);
	uint32_t w = fine->size + 2;

	if (!s.idle)
		ask_neighbours(me, &s);
	for (uint32_t i = s.top; i < s.bottom; i++) {
		for (uint32_t j = s.left; j < s.right; j++) {
			double sum = 0;

			for (uint32_t k = 0; k < 4; k++) {
				size_t x = at(fine, 2 * i + k / 2, 2 * j + k % 2);
				const double *u = fine->u;

				sum += fine->f[x] + u[x - 1] + u[x + 1] + u[x - w] + u[x + w] -
				       4 * u[x];
			}
			coarse->f[at(coarse, i, j)] = sum;
			coarse->u[at(coarse, i, j)] = 0;
		}
	}
	meet();
}

static void refine(uint32_t me, struct plane *fine, const struct plane *coarse)
{
	struct share s = share_of(fine, me);

	if (!s.idle)
		ask_neighbours(me, &s);
	for (uint32_t i = s.top; i < s.bottom; i++)
		for (uint32_t j = s.left; j < s.right; j++)
			fine->u[at(fine, i, j)] += coarse->u[at(coarse, i / 2, j / 2)];
	meet();
}

static void mgrid(uint32_t me)
{
	for (uint32_t k = 0; k < V_CYCLES; k++) {
		for (uint32_t l = 0; l + 1 < LEVELS; l++) {
			relax(me, &planes[l], 2);
			coarsen(me, &planes[l], &planes[l + 1]);
		}
		relax(me, &planes[LEVELS - 1], 8);
		for (uint32_t l = LEVELS - 1; l-- > 0;) {
			refine(me, &planes[l], &planes[l + 1]);
			relax(me, &planes[l], 2);
		}
	}
}

static uint64_t plane_result(void)
{
	const struct plane *p = &planes[0];

	return checksum(p->u, (size_t)(p->size + 2) * (p->size + 2) * sizeof(*p->u));
}

/* --- poisson ---------------------------------------------------------------------------------- */

#define POISSON 192
#define SOLVES	2

static double (*rows)[POISSON], (*turned)[POISSON], sines[2 * POISSON + 2];

/*
 * Compute the sine transform directly. For so few elements this takes as long as the fast transform
 * would for many.
 */
static void transform(double *row)
{
	double out[POISSON];

	for (uint32_t k = 0; k < POISSON; k++) {
		out[k] = 0;
		for (uint32_t j = 0; j < POISSON; j++)
			out[k] += row[j] * sines[(k + 1) * (j + 1) % (2 * POISSON + 2)];
	}
	memcpy(row, out, sizeof(out));
}

static void poisson_begin(void)
{
	rows = (double(*)[POISSON])must_alloc(POISSON, sizeof(*rows));
	turned = (double(*)[POISSON])must_alloc(POISSON, sizeof(*turned));
	for (uint32_t i = 0; i < 2 * POISSON + 2; i++)
		sines[i] =
			sin(3.14159265358979323846 * i / (POISSON + 1)) * sqrt(2.0 / (POISSON + 1));
	for (uint32_t i = 0; i < POISSON; i++)
		for (uint32_t j = 0; j < POISSON; j++)
			rows[i][j] = random_of(i * POISSON + j);
}

static void turn(uint32_t me, double (*to)[POISSON], double (*from)[POISSON])
{
	uint32_t mine = first_of(POISSON, threads, me), end = first_of(POISSON, threads, me + 1);

	for (uint32_t t = 1; t < threads; t++) {
		uint32_t o = (me + t) % threads;

		ask(me, o,
		    8 * (end - mine) *
			    (first_of(POISSON, threads, o + 1) - first_of(POISSON, threads, o)));
	}
	for (uint32_t i = mine; i < end; i++)
		for (uint32_t j = 0; j < POISSON; j++)
			to[i][j] = from[j][i];
	meet();
}

/* Transform rows and columns, divide by the eigenvalues, and transform back. */
static void poisson(uint32_t me)
{
	uint32_t mine = first_of(POISSON, threads, me), end = first_of(POISSON, threads, me + 1);

	for (uint32_t k = 0; k < SOLVES; k++) {
		for (uint32_t i = mine; i < end; i++)
			transform(rows[i]);
		meet();
		turn(me, turned, rows);
		for (uint32_t i = mine; i < end; i++) {
			transform(turned[i]);
			for (uint32_t j = 0; j < POISSON; j++)
				turned[i][j] /=
					4 -
					2 * cos(3.14159265358979323846 * (i + 1) / (POISSON + 1)) -
					2 * cos(3.14159265358979323846 * (j + 1) / (POISSON + 1));
			transform(turned[i]);
		}
		meet();
		turn(me, rows, turned);
		for (uint32_t i = mine; i < end; i++)
			transform(rows[i]);
		meet();
	}
}

static uint64_t poisson_result(void)
{
	return checksum(rows, POISSON * sizeof(*rows));
}

/* --- sort ------------------------------------------------------------------------------------- */

#define NUMBERS (1U << 20)

static uint32_t *numbers, *sorted;

static void sort_begin(void)
{
	numbers = (uint32_t *)must_alloc(NUMBERS, sizeof(*numbers));
	sorted = (uint32_t *)must_alloc(NUMBERS, sizeof(*sorted));
	for (uint32_t i = 0; i < NUMBERS; i++)
		numbers[i] = (uint32_t)mix64(i);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Keep the lower or the upper half of the elements of two threads, in order. */
static void merge(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t n, bool lower)
{
	if (lower) {
		for (uint32_t k = 0, i = 0, j = 0; k < n; k++)
			out[k] = a[i] <= b[j] ? a[i++] : b[j++];
		return;
	}
	for (uint32_t k = n, i = n, j = n; k-- > 0;)
		out[k] = a[i - 1] > b[j - 1] ? a[--i] : b[--j];
}

static void sort(uint32_t me)
{
	uint32_t n = NUMBERS / threads, *from = numbers, *to = sorted, *other;

	qsort(from + me * n, n, sizeof(*from), by_number);
	meet();
	for (uint32_t k = 2; k <= threads; k *= 2) {
		for (uint32_t j = k / 2; j; j /= 2) {
			uint32_t with = me ^ j;

			ask(me, with, 4 * n);
			/*
			 * If elements are equal, each thread must keep its own. So both threads
			 * pass the same array as @a.
			 */
			merge(to + me * n, from + (me < with ? me : with) * n,
			      from + (me < with ? with : me) * n, n, (me < with) == !(me & k));
			meet();
			other = from;
			from = to;
			to = other;
		}
	}
	if (!me && from != numbers)
		memcpy(numbers, from, NUMBERS * sizeof(*numbers));
}

static uint64_t sort_result(void)
{
	for (uint32_t i = 1; i < NUMBERS; i++)
		if (numbers[i - 1] > numbers[i])
			die("sort: number %u is out of order", i);
	return checksum(numbers, NUMBERS * sizeof(*numbers));
}

/* --- which ------------------------------------------------------------------------------------ */

static const struct benchmark {
	const char *name;
	void (*begin)(void);
	void (*run)(uint32_t me);
	uint64_t (*result)(void);
} benchmarks[] = {
	{ "embar", NULL, embar, embar_result },
	{ "cyclic", cyclic_begin, cyclic, cyclic_result },
	{ "sparse", sparse_begin, sparse, sparse_result },
	{ "grid", planes_begin, grid, plane_result },
	{ "mgrid", planes_begin, mgrid, plane_result },
	{ "poisson", poisson_begin, poisson, poisson_result },
	{ "sort", sort_begin, sort, sort_result },
};

static const struct benchmark *chosen;

static void *body(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;

	SBT_THREAD(me);
	/* Work before this episode belongs to no phase. */
	meet();
	chosen->run(me);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t all[MAX_THREADS];

	for (size_t i = 0; argc == 3 && i < ARRAY_SIZE(benchmarks); i++)
		if (!strcmp(argv[1], benchmarks[i].name))
			chosen = &benchmarks[i];
	if (!chosen)
		die("usage: sbtpaper embar|cyclic|sparse|grid|mgrid|poisson|sort THREADS");
	threads = (uint32_t)parse_u64("THREADS", argv[2], 1, MAX_THREADS);
	if (chosen->run == sort && threads & (threads - 1))
		die("sort: THREADS is no power of 2");
	stopgap(STOPGAP_SECONDS);
	for (side = 1; (side + 1) * (side + 1) <= threads; side++)
		;
	if (chosen->begin)
		chosen->begin();
	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_create(&all[i], NULL, body, (void *)(uintptr_t)i), "pthread_create");
	body(NULL);
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_join(all[i], NULL), "pthread_join");
	printf("sbtpaper: %s checksum=%016llx ok\n", chosen->name,
	       (unsigned long long)chosen->result());
	return 0;
}
