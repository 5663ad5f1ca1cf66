// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/terminal.h"

/* Else it makes macros of everybody's words. */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#undef lines

/* How long the bytes of one key may take, over a network too. */
#define ESCAPE_DELAY_MS 50

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define NCRASHES (sizeof(crashes) / sizeof(crashes[0]))

/* ncurses and signals know only one terminal as well. */
static struct {
	SCREEN *screen;
	FILE *in, *out;
	int fd;
	volatile sig_atomic_t taken;
	struct termios before;
	char back[128]; /* what gives it back */
	size_t nback;
	struct sigaction crash_before[NCRASHES];
	attr_t attrs[SCREEN_STYLES];
} terminal;

void terminal_rescue(void)
{
	if (!terminal.taken)
		return;
	terminal.taken = 0;
	/* Nothing can be done about an error. */
	if (write(terminal.fd, terminal.back, terminal.nback) < 0)
		terminal.nback = 0;
	tcsetattr(terminal.fd, TCSANOW, &terminal.before);
}

static void on_crash(int number)
{
	terminal_rescue();
	/* Its handler was reset: it ends us now as it would have. */
	raise(number);
}

/* Without the pauses that old terminals want: nobody can wait for them then. */
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

static void prepare_rescue(int out)
{
	struct sigaction crash = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER };
	size_t i;

	terminal.fd = out;
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
	attr_t *a = terminal.attrs;

	a[SCREEN_PLAIN] = A_NORMAL;
	a[SCREEN_BOLD] = A_BOLD;
	a[SCREEN_DIM] = A_DIM;
	a[SCREEN_ALARM] = A_BOLD;
	a[SCREEN_HEAD] = A_REVERSE;
	a[SCREEN_CHOSEN] = A_REVERSE;
	if (!colour || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_BLACK, COLOR_CYAN);
	a[SCREEN_ALARM] = A_BOLD | COLOR_PAIR(1);
	a[SCREEN_HEAD] = COLOR_PAIR(2);
}

static FILE *stream_of(int fd, const char *mode)
{
	int own = dup(fd);
	FILE *f = own < 0 ? NULL : fdopen(own, mode);

	if (!f && own >= 0)
		close(own);
	return f;
}

int terminal_open(int in, int out, bool colour)
{
	if (tcgetattr(out, &terminal.before))
		return -errno;
	terminal.in = stream_of(in, "r");
	terminal.out = stream_of(out, "w");
	terminal.screen =
		terminal.in && terminal.out ? newterm(NULL, terminal.out, terminal.in) : NULL;
	if (!terminal.screen) {
		terminal_close();
		return -ENOTSUP;
	}
	prepare_rescue(out);
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
		delscreen(terminal.screen);
		for (i = 0; i < NCRASHES; i++)
			sigaction(crashes[i], &terminal.crash_before[i], NULL);
	}
	terminal.taken = 0;
	if (terminal.in)
		fclose(terminal.in);
	if (terminal.out)
		fclose(terminal.out);
	terminal.screen = NULL;
	terminal.in = terminal.out = NULL;
}

static uint32_t function_key(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_ENTER:
		return SCREEN_ENTER;
	case KEY_BACKSPACE:
		return SCREEN_BACKSPACE;
	default:
		/* Whatever else has a key of its own means nothing here: the picture is only drawn again. */
		return TERMINAL_RESIZED;
	}
}

uint32_t terminal_key(void)
{
	wint_t key;

	if (!terminal.screen)
		return 0;
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
		/* ^L: what others have written over it goes. */
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

/* The bars go over the whole width. */
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
}
