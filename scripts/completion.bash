# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
# shellcheck shell=bash
#
# Bash completion of sbt-trace: options, files, process numbers, and after -- a command with its own completion.

_sbt_trace_pids() {
	local done_ pids pid

	# 12,34 -> complete the last one, keep what stands before it.
	done_=${1%"${1##*,}"}
	pids=
	for pid in /proc/[0-9]*; do
		pids+=" ${done_}${pid##*/}"
	done
	mapfile -t COMPREPLY < <(compgen -W "$pids" -- "$1")
}

_sbt_trace_comms() {
	local comm names

	# Processes may end meanwhile.
	mapfile -t names < <(cat /proc/[0-9]*/comm 2>/dev/null | sort -u)
	# Names are untrusted: quoted for the shell, and no expansion by compgen -W.
	COMPREPLY=()
	for comm in "${names[@]}"; do
		[[ $comm == "$1"* ]] && COMPREPLY+=("$(printf '%q' "$comm")")
	done
}

_sbt_trace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i word value=
	local options="--pid --all --output --json --csv --watch --watch-all --name --warn-time --no-warnings
		--warn-every --phase-times --duration --delay --cgroup --comm --user --no-children --attach
		--ring-size --debuginfod --quiet --verbose --json-schema --help --version"

	COMPREPLY=()
	# Where does COMMAND begin? After --, or at the first word that is no option and no option's value.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $value ]]; then
			# Bash may cut --option=value in three words.
			[[ $word == = ]] || value=
			continue
		fi
		case $word in
		--)
			i=$((i + 1))
			break
			;;
		-p | --pid | -o | --output | -w | --watch | --name | --warn-time | --warn-every | -d | --duration | \
			--delay | --cgroup | --comm | -u | --user | --attach | --ring-size) value=1 ;;
		-*) ;;
		trace) [[ $i == 1 ]] || break ;;
		*) break ;;
		esac
	done
	if ((i < COMP_CWORD)) || [[ $prev == -- ]]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$i"
		elif ((i == COMP_CWORD)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		return
	fi
	if [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == = ]]; then
		cur=
	fi
	case $prev in
	-p | --pid) _sbt_trace_pids "$cur" ;;
	-o | --output)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	--cgroup)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "${cur:-/sys/fs/cgroup/}")
		;;
	--comm) _sbt_trace_comms "$cur" ;;
	-u | --user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	--attach) mapfile -t COMPREPLY < <(compgen -W "session multi perf" -- "$cur") ;;
	-w | --watch | --name | --warn-time | --warn-every | -d | --duration | --delay | --ring-size) ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$options -- -p -a -o -w -W -d -u -q -v -h" -- "$cur")
		elif ((COMP_CWORD == 1)); then
			mapfile -t COMPREPLY < <(
				compgen -W trace -- "$cur"
				compgen -c -- "$cur"
			)
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi
		;;
	esac
}

complete -F _sbt_trace sbt-trace
