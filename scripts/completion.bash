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

_sbt_trace_events() {
	local names done_=${1%"${1##*,}"}

	# Those that can be had here; a,b -> complete the last one.
	mapfile -t names < <("${COMP_WORDS[0]}" list --events 2>/dev/null | awk '$3 == "yes" { print $1 }')
	mapfile -t COMPREPLY < <(compgen -W "${names[*]/#/$done_}" -- "$1")
}

_sbt_trace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i word value=
	local options="--pid --all --output --record --json --csv --markdown --watch --watch-all --name --events --warn-time --no-warnings
		--warn-every --hang --phase --phase-times --duration --delay --cgroup --comm --user --no-children --barrier --frames --attach
		--ring-size --debuginfod --quiet --verbose --json-schema --help --version --no-causes --aggregate --cost-limit --keep-processes"

	COMPREPLY=()
	if [[ ${COMP_WORDS[1]} == top ]]; then
		options="--pid --all --interval --iterations --comm --cgroup --user --no-children --barrier --frames --attach --discover
			--no-discover --no-causes --ring-size --debuginfod --help"
	fi
	if [[ ${COMP_WORDS[1]} == list ]] && ((COMP_CWORD > 1)); then
		mapfile -t COMPREPLY < <(compgen -f -W "--events --json --help --pid --barrier" -- "$cur")
		return
	fi
	if [[ ${COMP_WORDS[1]} == hang ]] && ((COMP_CWORD > 1)); then
		case $prev in
		-b | --barrier) ;;
		-p | --pid) _sbt_trace_pids "$cur" ;;
		-o | --output)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			;;
		*) mapfile -t COMPREPLY < <(compgen -W "--pid --barrier --json --output --verbose --help" -- "$cur") ;;
		esac
		return
	fi
	if [[ ${COMP_WORDS[1]} == predict ]] && ((COMP_CWORD > 1)); then
		case $prev in
		--processors | --set | --from | --to) ;;
		--barrier-model)
			mapfile -t COMPREPLY < <(compgen -W "linear central tree dissemination free" -- "$cur")
			;;
		--machine)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -W "ideal laptop two-socket cm5 distributed" -- "$cur")
			;;
		*)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -W "--processors --from --to --machine --barrier-model --set --record-to --html --parameters
				--calibrate --output --json --csv --quiet --help" -- "$cur")
			;;
		esac
		return
	fi
	if [[ ${COMP_WORDS[1]} == diff || ${COMP_WORDS[1]} == series ]] && ((COMP_CWORD > 1)); then
		word="--fail-above --quantity --confidence"
		[[ ${COMP_WORDS[1]} == diff ]] || word="--label --by --base"
		case $prev in
		--fail-above | --confidence | -l | --label) ;;
		--quantity) mapfile -t COMPREPLY < <(compgen -W "phase barrier lost release elapsed efficiency counters" -- "$cur") ;;
		--by) mapfile -t COMPREPLY < <(compgen -W "run command threads file" -- "$cur") ;;
		--base) mapfile -t COMPREPLY < <(compgen -W "first fastest row column" -- "$cur") ;;
		*)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -W "$word --html --json --csv --markdown --output --help" -- "$cur")
			;;
		esac
		return
	fi
	if [[ ${COMP_WORDS[1]} == doctor ]] && ((COMP_CWORD > 1)); then
		if [[ $prev == -o || $prev == --output ]]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -W "--json --output --help" -- "$cur")
		fi
		return
	fi
	if [[ ${COMP_WORDS[1]} == report ]] && ((COMP_CWORD > 1)); then
		case $prev in
		--from | --to | --site | --thread | -w | --watch | --name | --warn-time | --warn-every | --phase) ;;
		*)
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -W "--from --to --site --thread --watch --watch-all --name --warn-time
				--warn-every --no-warnings --phase --phase-times --output --json --csv --markdown --html --with --chrome
				--folded --json-schema --quiet --verbose --help" -- "$cur")
			;;
		esac
		return
	fi
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
		-n | --iterations | --interval | -p | --pid | -o | --output | --record | -w | --watch | --name | --warn-time | --warn-every | --hang | -d | --duration | \
			-b | --barrier | --frames | -e | --events | --delay | --cgroup | --comm | -u | --user | --attach | --cost-limit | --keep-processes | --ring-size) value=1 ;;
		-*) ;;
		trace | top | record) [[ $i == 1 ]] || break ;;
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
	-o | --output | --record)
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
	-e | --events) _sbt_trace_events "$cur" ;;
	-w | --watch | --name | --warn-time | --warn-every | --hang | -d | --duration | --delay | --cost-limit | --keep-processes | --ring-size | -b | --barrier | --frames) ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$options -- -p -a -b -o -w -W -d -u -q -v -h" -- "$cur")
		elif ((COMP_CWORD == 1)); then
			mapfile -t COMPREPLY < <(
				compgen -W "trace top hang list doctor record report diff series" -- "$cur"
				compgen -c -- "$cur"
			)
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi
		;;
	esac
}

complete -F _sbt_trace sbt-trace
