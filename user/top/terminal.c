// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "top/terminal.h"

#include "base/grow.h"

/* Without this, curses.h defines common words as macros. */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#undef lines

/* How long to wait for the remaining bytes of a key, also over a network. */
#define ESCAPE_DELAY_MS 50

/*
 * How long to wait at the end for a terminal that takes no output. Meanwhile, no thread reads
 * records.
 */
#define CLOSE_MS       200
#define CLOSE_STEP_MS  10
/* Largest write if writing may block. poll() reports that there is room, but not how much. */
#define BLOCKING_WRITE 64

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define NCRASHES (sizeof(crashes) / sizeof(crashes[0]))

/* The state is global, because signal handlers need it, and because there is only one terminal. */
static struct {
	SCREEN *screen;
	FILE *in;
	FILE *out; /* a file in memory: ncurses would wait if it wrote to the terminal itself */
	int fd;
	bool may_block; /* writing to .fd may block */
	/* output of ncurses; the terminal has not yet taken bytes .sent to .npending */
	char *pending;
	size_t npending, sent, cap;
	/* a frame was not drawn, because part of the previous frame is still pending */
	bool dropped;
	bool garbled; /* output of ncurses was lost */
	volatile sig_atomic_t pause_asked;
	volatile sig_atomic_t taken;
	struct termios before;
	char back[128]; /* the sequence that restores the terminal */
	size_t nback;
	struct sigaction crash_before[NCRASHES];
	struct sigaction size_before, pause_before;
	attr_t attrs[SCREEN_STYLES];
} terminal;

/*
 * Drop what the terminal has not shown yet, and resume stopped output. Clearing IXON resumes output
 * that ^S stopped, and TCOON resumes output that tcflow() stopped. Signal handlers call this, too.
 * The caller sets the modes afterwards.
 */
static void make_room(void)
{
	struct termios t = terminal.before;

	t.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(terminal.fd, TCSANOW, &t);
	tcflow(terminal.fd, TCOON);
	tcflush(terminal.fd, TCOFLUSH);
}

void terminal_rescue(void)
{
	if (!terminal.taken)
		return;
	terminal.taken = 0;
	/* An error cannot be handled here. */
	if (write(terminal.fd, terminal.back, terminal.nback) < 0) {
		make_room();
		if (write(terminal.fd, terminal.back, terminal.nback) < 0)
			terminal.nback = 0;
	}
	tcsetattr(terminal.fd, TCSANOW, &terminal.before);
}

/* --- from ncurses to the terminal, without waiting -------------------------------------------- */

int terminal_descriptor(int out)
{
	char path[32];
	int fd;

	/* O_NONBLOCK on @out itself would affect all processes that share it, such as the shell. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? fcntl(out, F_DUPFD_CLOEXEC, 3) : fd;
}

/* Append what ncurses has written since the last time to the pending output. */
static void collect(void)
{
	int fd = fileno(terminal.out);
	off_t n = lseek(fd, 0, SEEK_CUR);

	if (n <= 0)
		return;
	if (grow(terminal.pending, terminal.cap, terminal.npending + (size_t)n) ||
	    pread(fd, terminal.pending + terminal.npending, (size_t)n, 0) != n)
		terminal.garbled = true;
	else
		terminal.npending += (size_t)n;
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		terminal.garbled = true;
}

/* Write as much pending output as the terminal takes now. */
static void send_pending(void)
{
	while (terminal.sent < terminal.npending) {
		size_t n = terminal.npending - terminal.sent;
		struct pollfd p = { .fd = terminal.fd, .events = POLLOUT };
		ssize_t done;

		if (terminal.may_block && (poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT)))
			return;
		if (terminal.may_block && n > BLOCKING_WRITE)
			n = BLOCKING_WRITE;
		done = write(terminal.fd, terminal.pending + terminal.sent, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		/* The terminal is gone. The code that reads keys notices that. */
		if (done <= 0)
			break;
		terminal.sent += (size_t)done;
	}
	terminal.sent = terminal.npending = 0;
}

/*
 * Write the rest of the output. If the terminal takes nothing for CLOSE_MS, drop what it has not
 * shown, to make room.
 */
static void finish_pending(void)
{
	int waited;

	collect();
	for (waited = 0;; waited += CLOSE_STEP_MS) {
		send_pending();
		if (!terminal.npending || waited >= CLOSE_MS)
			break;
		poll(NULL, 0, CLOSE_STEP_MS);
	}
	if (!terminal.npending)
		return;
	make_room();
	send_pending();
	terminal.sent = terminal.npending = 0;
}

/* Return whether the terminal has taken all that was drawn. */
static bool terminal_ready(void)
{
	collect();
	send_pending();
	return !terminal.npending;
}

bool terminal_flush(void)
{
	return terminal.screen && terminal_ready() && terminal.dropped;
}

static void on_crash(int number)
{
	terminal_rescue();
	/*
	 * SA_RESETHAND restored the default action: the signal now ends the process in the usual
	 * way.
	 */
	raise(number);
}

/*
 * Add a terminfo sequence to the sequences that restore the terminal. Leave out the delays for old
 * terminals ("$<...>"), because a signal handler cannot wait.
 */
static void add_back(const char *name)
{
	const char *s = tigetstr(name);

	if (!s || s == (char *)-1)
		return;
	for (; *s && terminal.nback < sizeof(terminal.back); s++) {
		if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
			s = strchr(s, '>');
		else
			terminal.back[terminal.nback++] = *s;
	}
}

static void on_size(int number)
{
	/* The handler only interrupts a wait. terminal_key() checks the size each time. */
	(void)number;
}

static void on_pause(int number)
{
	(void)number;
	terminal.pause_asked = 1;
}

/*
 * Do not leave these signals to ncurses, because its handlers would treat its output file as the
 * terminal. ncurses does not replace handlers that are already set.
 */
static void handle_signals(void)
{
	struct sigaction size = { .sa_handler = on_size }, pause = { .sa_handler = on_pause };

	sigaction(SIGWINCH, &size, &terminal.size_before);
	if (!sigaction(SIGTSTP, NULL, &terminal.pause_before) &&
	    terminal.pause_before.sa_handler == SIG_DFL)
		sigaction(SIGTSTP, &pause, NULL);
}

/* Set the modes that ncurses expects: keys at once, no echo, and newline only moves down. */
static void set_modes(void)
{
	struct termios t = terminal.before;

	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
	t.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
	t.c_oflag &= ~(tcflag_t)(ONLCR | XTABS);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	tcsetattr(terminal.fd, TCSANOW, &t);
}

/* Return whether the size has changed. */
static bool set_size(void)
{
	struct winsize w;

	if (ioctl(terminal.fd, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
		return false;
	if (getmaxx(stdscr) == w.ws_col && getmaxy(stdscr) == w.ws_row)
		return false;
	resizeterm(w.ws_row, w.ws_col);
	return true;
}

static void prepare_rescue(void)
{
	struct sigaction crash = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER };
	size_t i;

	terminal.nback = 0;
	add_back("sgr0");
	add_back("rmkx");
	add_back("rmcup");
	add_back("cnorm");
	terminal.taken = 1;
	for (i = 0; i < NCRASHES; i++)
		sigaction(crashes[i], &crash, &terminal.crash_before[i]);
}

bool terminal_can(int out, const char *name)
{
	int err;

	if (setupterm(name, out, &err) == ERR)
		return false;
	return tigetstr("cup") && tigetstr("cup") != (char *)-1;
}

static void choose_styles(bool colour)
{
	static const attr_t plain[SCREEN_STYLES] = {
		[SCREEN_PLAIN] = A_NORMAL, [SCREEN_BOLD] = A_BOLD,    [SCREEN_DIM] = A_DIM,
		[SCREEN_ALARM] = A_BOLD,   [SCREEN_HEAD] = A_REVERSE, [SCREEN_CHOSEN] = A_REVERSE,
	};
	attr_t *a = terminal.attrs;

	memcpy(a, plain, sizeof(plain));
	if (!colour || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_BLACK, COLOR_CYAN);
	a[SCREEN_ALARM] = A_BOLD | COLOR_PAIR(1);
	a[SCREEN_HEAD] = COLOR_PAIR(2);
}

static FILE *stream_of(int own, const char *mode)
{
	FILE *f = own < 0 ? NULL : fdopen(own, mode);

	if (!f && own >= 0)
		close(own);
	return f;
}

int terminal_open(int in, int out, bool colour)
{
	int flags = fcntl(out, F_GETFL);

	if (tcgetattr(out, &terminal.before))
		return -errno;
	terminal.fd = out;
	terminal.may_block = flags < 0 || !(flags & O_NONBLOCK);
	terminal.sent = terminal.npending = 0;
	terminal.dropped = terminal.garbled = false;
	handle_signals();
	terminal.in = stream_of(fcntl(in, F_DUPFD_CLOEXEC, 3), "r");
	terminal.out = stream_of(memfd_create("screen", MFD_CLOEXEC), "w");
	terminal.screen =
		terminal.in && terminal.out ? newterm(NULL, terminal.out, terminal.in) : NULL;
	if (!terminal.screen) {
		terminal_close();
		return -ENOTSUP;
	}
	prepare_rescue();
	set_modes();
	set_size();
	typeahead(-1);
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	choose_styles(colour);
	return 0;
}

void terminal_close(void)
{
	size_t i;

	if (terminal.screen) {
		endwin();
		finish_pending();
		tcsetattr(terminal.fd, TCSANOW, &terminal.before);
		terminal.taken = 0;
		delscreen(terminal.screen);
		for (i = 0; i < NCRASHES; i++)
			sigaction(crashes[i], &terminal.crash_before[i], NULL);
	}
	if (terminal.in || terminal.out) {
		sigaction(SIGWINCH, &terminal.size_before, NULL);
		sigaction(SIGTSTP, &terminal.pause_before, NULL);
	}
	if (terminal.in)
		fclose(terminal.in);
	if (terminal.out)
		fclose(terminal.out);
	free(terminal.pending);
	terminal.pending = NULL;
	terminal.cap = terminal.npending = terminal.sent = 0;
	terminal.screen = NULL;
	terminal.in = terminal.out = NULL;
}

/* Handle ^Z: the shell has the terminal until the process continues. */
static void pause_now(void)
{
	terminal.pause_asked = 0;
	endwin();
	finish_pending();
	tcsetattr(terminal.fd, TCSANOW, &terminal.before);
	raise(SIGSTOP);
	tcgetattr(terminal.fd, &terminal.before);
	set_modes();
	clearok(curscr, TRUE);
	refresh();
	collect();
}

static uint32_t function_key(wint_t key)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {
		{ KEY_UP, SCREEN_UP },	       { KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },     { KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP }, { KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },     { KEY_END, SCREEN_END },
		{ KEY_ENTER, SCREEN_ENTER },   { KEY_BACKSPACE, SCREEN_BACKSPACE },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == key)
			return keys[i].key;
	/* Other keys only redraw the screen. */
	return TERMINAL_RESIZED;
}

uint32_t terminal_key(void)
{
	wint_t key;

	if (!terminal.screen)
		return 0;
	if (terminal.pause_asked) {
		pause_now();
		return TERMINAL_RESIZED;
	}
	if (set_size())
		return TERMINAL_RESIZED;
	switch (get_wch(&key)) {
	case ERR:
		return 0;
	case KEY_CODE_YES:
		return function_key(key);
	default:
		break;
	}
	switch (key) {
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case 0x1b:
		return SCREEN_ESCAPE;
	case 0x7f:
	case '\b':
		return SCREEN_BACKSPACE;
	case 0x0c:
		/* ^L: redraw what other programs have overwritten. */
		clearok(curscr, TRUE);
		return TERMINAL_RESIZED;
	default:
		return (uint32_t)key < SCREEN_UP && key ? (uint32_t)key : TERMINAL_RESIZED;
	}
}

void terminal_size(unsigned *width, unsigned *height)
{
	int x, y;

	getmaxyx(stdscr, y, x);
	*width = x > 0 ? (unsigned)x : 1;
	*height = y > 0 ? (unsigned)y : 1;
}

/* Extend headings and the chosen row to the full width. */
static void fill_line(const struct screen_run *run)
{
	int x, y, width = getmaxx(stdscr);

	if (run->style != SCREEN_HEAD && run->style != SCREEN_CHOSEN)
		return;
	getyx(stdscr, y, x);
	if (y != (int)run->line)
		return;
	for (; x < width; x++)
		addch(' ');
}

void terminal_show(const struct screen_lines *lines)
{
	unsigned i, line = UINT32_MAX;

	if (!terminal.screen)
		return;
	/* A slow terminal shows fewer frames. Do not wait for it. */
	terminal.dropped = !terminal_ready();
	if (terminal.dropped)
		return;
	if (terminal.garbled)
		clearok(curscr, TRUE);
	terminal.garbled = false;
	erase();
	for (i = 0; i < lines->nruns; i++) {
		const struct screen_run *run = &lines->runs[i];

		if (run->line != line)
			move((int)run->line, 0);
		line = run->line;
		attrset((int)terminal.attrs[run->style]);
		addnstr(lines->text.s + run->from, (int)(run->to - run->from));
		if (i + 1 == lines->nruns || lines->runs[i + 1].line != line)
			fill_line(run);
	}
	attrset(A_NORMAL);
	refresh();
	collect();
	send_pending();
}
