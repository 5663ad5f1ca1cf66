// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/command_text.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cmd/nearest.h"

/* clang-format off */
#define SIGNALS \
"SIGUSR1: print a report now. SIGINT, SIGTERM: stop tracing and print the " \
"report; the traced programs run on.\n"
#define BARRIER \
"BARRIER is a name given with --name, a function, FILE:LINE, LINE, or an id as " \
"reports show it, such as #35577005.\n"
#define SPEC \
"SPEC is [FILE:]NAME[..NAME][@N|@all][,count=N]. NAME may be a pattern, or " \
"FILE:0xADDRESS; @N is the argument that identifies the barrier.\n"

const struct command_text command_texts[COMMANDS] = {
[COMMAND_TRACE] = {
	.name = "trace",
	.variables = true,
	.usage = "[trace] [OPTIONS] [--] COMMAND [ARGS...]\n"
		 "[trace] [OPTIONS] -p PID[,PID...]\n"
		 "[trace] [OPTIONS] -a\n",
	.summary = "trace programs and print the report (the default command)",
	.about =
"Runs COMMAND, or attaches to running processes, and reports where the time of "
"threads goes: the phases that cost most, load balance, the last arrivers at each "
"barrier and the causes, and hangs. Nothing is recompiled or restarted.\n",
	.notes =
"With COMMAND, the report goes to standard error, otherwise to standard output; "
"with -o, to FILE. With COMMAND, --json and --csv need -o.\n"
BARRIER SPEC SIGNALS
"Exit status: that of COMMAND, or 128 plus the signal that killed it; without "
"COMMAND 0; 1 if tracing failed; 2 for wrong usage; 126 if COMMAND cannot be executed; 127 "
"if it is not found.\n"
"The environment variables of the SBT library are read too; options override "
"them, and SBT_VERBOSE=1 lists them.\n",
},
[COMMAND_RECORD] = {
	.name = "record",
	.variables = true,
	.usage = "record [-o FILE] [OPTIONS] [--] COMMAND [ARGS...]\n"
		 "record [-o FILE] [OPTIONS] -p PID[,PID...]\n"
		 "record [-o FILE] [OPTIONS] -a\n",
	.summary = "trace programs into a file, without a report",
	.about =
"Writes everything that trace would report into a recording. report, diff, series "
"and predict read the recording, here or on another machine. After a crash or if "
"the disk is full, the recording can be read except for its last second. If COMMAND "
"cannot be run, FILE stays as it was. Under mpirun, the first rank on a machine "
"records all ranks of this machine.\n",
	.notes =
"Without -o, FILE is sbt.data. An earlier recording of this name becomes sbt.data.old. "
"Anything else of these names, such as a link, is an error.\n"
SPEC
"SIGUSR1: complete the recording up to now. SIGINT, SIGTERM: stop tracing; the "
"traced programs run on.\n"
"The exit status is that of trace. The format: man 5 sbt-trace-recording.\n",
},
[COMMAND_REPORT] = {
	.name = "report",
	.variables = true,
	.operands = OPERANDS_FILES,
	.usage = "report [OPTIONS] [FILE...]\n",
	.summary = "print the report of a recording",
	.about =
"Prints what trace would have printed, with the same figures. Options choose what "
"to print, and can be different each time. Several files are treated as "
"recordings of one run on several nodes, and are aligned by their common episodes. "
"Without FILE, it reads sbt.data.\n",
	.notes = BARRIER
"With --from and --to, all times, sums and shares refer to that part of the run. --site "
"and --thread leave out rows and change no figure.\n"
"Exit status: 0; 1 if FILE cannot be read; 2 for wrong usage.\n",
},
[COMMAND_LIST] = {
	.name = "list",
	.operands = OPERANDS_FILES,
	.usage = "list [-b SPEC] [--json] BINARY\n"
		 "list [-b SPEC] [--json] -p PID\n"
		 "list --events [--json]\n",
	.summary = "list the barriers of a program, or the counters of this machine",
	.about =
"Lists the probe sites of barriers in a program and its libraries, or in a "
"process, by family. Shows the instruction at each site, whether the kernel "
"emulates the instruction or single-steps it (six to ten times as expensive), and "
"how the end of a crossing is detected. Also lists barriers that cannot be traced. Nothing "
"is run or probed.\n",
	.notes = SPEC,
},
[COMMAND_HANG] = {
	.name = "hang",
	.operands = OPERANDS_NONE,
	.usage = "hang [OPTIONS] -p PID[,PID...]\n",
	.summary = "show where a process that already hangs is stuck",
	.about =
"Reports the barriers that threads wait at, the missing threads, and why they are "
"missing. Then shows the stack of each thread, and what the thread waits for. "
"Nothing needs to be traced beforehand, and no thread is stopped.\n",
	.notes = SPEC,
},
[COMMAND_TOP] = {
	.name = "top",
	.variables = true,
	.usage = "top [OPTIONS] [-a]\n"
		 "top [OPTIONS] -p PID[,PID...]\n"
		 "top [OPTIONS] [--] COMMAND [ARGS...]\n",
	.summary = "show a live table of processes and barriers that lose time",
	.about =
"Shows the processes and barriers that lose most time, their last arrivers and "
"the causes, and refreshes them each second. Without -p and COMMAND it shows the "
"whole machine. If the output is not a terminal, it prints lines.\n",
	.notes = SPEC
"Keys: Up and Down select a row, Enter shows its threads, Esc goes back; s, or one "
"of l r i w n, sorts; / filters; t hides processes; Space pauses; ? explains keys "
"and columns; q quits. Traced programs run on after top ends. What COMMAND writes "
"to the terminal is shown after top ends; COMMAND has no input.\n",
},
[COMMAND_PREDICT] = {
	.name = "predict",
	.variables = true,
	.operands = OPERANDS_FILES,
	.usage = "predict [OPTIONS] [FILE...]\n"
		 "predict [--machine MACHINE] --parameters\n"
		 "predict --calibrate\n",
	.summary = "predict the recorded run on other processors or machines",
	.about =
"Simulates the computing and the barriers of each recorded thread on another "
"number of processors or another machine. Threads may have shared a CPU while they "
"were recorded. Several files are recordings with different numbers of threads. "
"They form one curve, with a point at each number of threads. Without FILE, it reads sbt.data.\n",
	.notes =
"Without --processors: 1, 2, 4, ..., up to the first number above the number of "
"threads. --record-to needs one number of processors. The result includes the "
"assumptions, such as that the program does the same work in the same order on "
"the target. Warnings say which assumptions may not hold.\n",
},
[COMMAND_DIFF] = {
	.name = "diff",
	.operands = OPERANDS_FILES,
	.usage = "diff [OPTIONS] [A B]\n"
		 "diff [OPTIONS] A... -- B...\n",
	.summary = "compare two recordings, or two sets of recordings",
	.about =
"Compares recordings call site by call site: phase time, barrier time, lost time, "
"counters and efficiencies of A and B, the change, and whether it exceeds noise.\n"
"Sites are matched by id, then by name, by function and line, or, if lines have "
"moved, by their order in the function. Without A and B, it compares the recordings "
"sbt.data.old and sbt.data.\n",
	.notes =
"--fail-above checks the phase time of each site and the elapsed time of the run; "
"with --quantity, it checks the given quantities of every site and process (more of "
"a counter is worse). The quantity efficiency stands for parallel, load_balance, serialisation and "
"transfer; a counter may be given by its name.\n"
"\n"
"With two or more recordings per side, changes are tested by Welch's t test; with "
"only one on one side, against the spread of the other side. With one recording per "
"side, only phase and barrier times can be tested: both runs are cut into 16 "
"parts, and the median change of a part is compared with the spread of these "
"changes. This misses differences between whole runs, so record several runs. p "
"values are adjusted by Holm's method over all sites of a quantity. --fail-above "
"tests, one-sided, whether B is worse than A by more than PERCENT, and adjusts over "
"everything that it checks.\n"
"\n"
"Exit status: 0, whatever differs; 1 if a recording cannot be read, or for "
"--fail-above if a side has no episode or A and B have no barrier in common; 2 for "
"wrong usage; 3 for a regression.\n",
},
[COMMAND_SERIES] = {
	.name = "series",
	.operands = OPERANDS_FILES,
	.usage = "series [OPTIONS] FILE...\n"
		 "series [OPTIONS] --label LABEL FILE... [--label LABEL FILE...]...\n",
	.summary = "show many recordings in one table",
	.about =
"Puts recordings of one program into one table: runs with different sizes, "
"versions or numbers of threads, or repeated runs. Recordings with the same label are averaged: "
"time, deviation, time relative to a base, speedup, efficiency, counters per thread; and "
"by site phase time, barrier time, shares, and the range of the idle times.\n",
	.notes =
"--by chooses the labels of files without --label: run (command line and number "
"of threads, as far as they "
"differ), command, threads, or file (its name without directories and suffix).\n"
"--base row and --base column mean the first point of the same row or column.\n"
"\n"
"The time of a recording is that of its longest process, or group of processes "
"with common barriers, from start to end if both were seen. For a recording "
"without barriers, such as of a sequential program, it is the recording's length.\n"
"Exit status: 0; 1 if a recording cannot be read; 2 for wrong usage.\n",
},
[COMMAND_DOCTOR] = {
	.name = "doctor",
	.operands = OPERANDS_NONE,
	.usage = "doctor [--json] [-o FILE]\n",
	.summary = "show what works on this machine, and what to do about the rest",
	.about =
"Tests what the kernel, the machine and the user's rights permit, with sbt-trace "
"itself as the traced process. Shows which features work, what is used instead of "
"missing features, and how to get these. With --json, the first object (\"trace\") is the "
"verdict.\n",
	.notes = "Exit status: 0 if programs can be traced here, 1 if not.\n",
},
[COMMAND_HELP] = {
	.name = "help",
	.operands = OPERANDS_NAME,
	.usage = "help [COMMAND]\n",
	.summary = "print the options of a command of sbt-trace",
	.about =
"Prints what sbt-trace COMMAND --help prints: what the command does, its options, and its "
"exit statuses. Without COMMAND, it prints the common options and the commands.\n",
},
};
/* clang-format on */

void command_names(unsigned commands, char *out, size_t size)
{
	unsigned all = ((1u << COMMANDS) - 1) & ~(1u << COMMAND_HELP);
	unsigned missing = all & ~commands, i;
	bool but = __builtin_popcount(missing) < __builtin_popcount(commands) / 2;
	unsigned left = but ? missing : commands & all;
	size_t at = (size_t)snprintf(out, size, "%s%s", but ? "all commands" : "",
				     but && missing ? " but " : "");

	for (i = 0; left && at < size; i++) {
		if (!(left >> i & 1))
			continue;
		left &= ~(1u << i);
		at += (size_t)snprintf(out + at, size - at, "%s%s", command_texts[i].name,
				       !left		   ? ""
				       : left & (left - 1) ? ", "
							   : " and ");
	}
}

enum command command_named(const char *word)
{
	unsigned i;

	for (i = 0; i < COMMANDS && strcmp(word, command_texts[i].name) != 0; i++)
		;
	return (enum command)i;
}

const char *command_nearest(const char *word)
{
	struct nearest nearest = nearest_to(word);

	array_for_each (command_text, command_texts, COMMANDS)
		nearest_try(&nearest, command_text->name);
	return nearest.best;
}
