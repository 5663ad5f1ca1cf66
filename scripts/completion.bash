# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
# shellcheck shell=bash
#
# Bash completion of sbt-trace: commands, options and their values, files, and after -- a command with its own completion.

# The commands; for one of them its options, each with the value that follows it, and what its operands are.
# begin: written by scripts/options
_sbt_trace_commands="trace record report list hang top predict diff series doctor help"
_sbt_trace_options() {
	case $1 in
	trace)
		operands="command"
		options="-p:LIST --pid:LIST -a --all --comm:NAME --cgroup:PATH --no-children -u:USER --user:USER --delay:SECONDS
			-d:SECONDS --duration:SECONDS -b:SPEC --barrier:SPEC --frames:N --discover --no-discover -e:LIST --events:LIST
			--hang:SECONDS --no-causes --no-samples --sample-rate:HZ --aggregate -w:BARRIER --watch:BARRIER -W --watch-all
			--name:NAME=BARRIER --warn-time:MS --warn-every:N --no-warnings --phase:NAME=A..B --phase-times --detail
			-o:FILE --output:FILE --json --csv --markdown --json-schema --record:FILE --keep-processes:N --cost-limit:N
			--attach:session,multi,perf --departures:seen,inferred --ring-size:KIB --debuginfod -q --quiet -v --verbose -h
			--help --version"
		;;
	record)
		operands="command"
		options="-p:LIST --pid:LIST -a --all --comm:NAME --cgroup:PATH --no-children -u:USER --user:USER --delay:SECONDS
			-d:SECONDS --duration:SECONDS -b:SPEC --barrier:SPEC --frames:N --discover --no-discover -e:LIST --events:LIST
			--hang:SECONDS --no-causes --no-samples --sample-rate:HZ -o:FILE --output:FILE --json-schema --keep-processes:N
			--cost-limit:N --attach:session,multi,perf --departures:seen,inferred --ring-size:KIB --debuginfod -q --quiet
			-v --verbose -h --help --version"
		;;
	report)
		operands="files"
		options="-w:BARRIER --watch:BARRIER -W --watch-all --name:NAME=BARRIER --warn-time:MS --warn-every:N --no-warnings
			--phase:NAME=A..B --phase-times --from:SECONDS --to:SECONDS --site:BARRIER --thread:TID --detail --no-pager
			-o:FILE --output:FILE --json --csv --markdown --json-schema --html:FILE --with:RECORDING --chrome:FILE
			--folded:FILE --folded-stacks:FILE --folded-late:FILE --keep-processes:N -q --quiet -v --verbose -h --help
			--version"
		;;
	list)
		operands="files"
		options="-p:PID --pid:PID -b:SPEC --barrier:SPEC --events --json -h --help --version"
		;;
	hang)
		operands="none"
		options="-p:LIST --pid:LIST -b:SPEC --barrier:SPEC -o:FILE --output:FILE --json -v --verbose -h --help --version"
		;;
	top)
		operands="command"
		options="-p:LIST --pid:LIST -a --all --comm:NAME --cgroup:PATH --no-children -u:USER --user:USER -b:SPEC --barrier:SPEC
			--frames:N --discover --no-discover --no-causes --no-samples --sample-rate:HZ -d:SECONDS --interval:SECONDS
			-n:N --iterations:N --attach:session,multi,perf --ring-size:KIB --debuginfod -h --help --version"
		;;
	predict)
		operands="files"
		options="--from:SECONDS --to:SECONDS --processors:LIST --machine:laptop,two-socket,cm5,distributed,ideal
			--barrier-model:linear,central,tree,dissemination,free --set:NAME=VALUE --parameters --calibrate --no-pager
			-o:FILE --output:FILE --json --csv --markdown --json-schema --record-to:FILE --html:FILE -q --quiet -h --help
			--version"
		;;
	diff)
		operands="files"
		options="--fail-above:PERCENT --quantity:phase,barrier,lost,release,elapsed,efficiency,functions,counters
			--confidence:PERCENT --no-pager -o:FILE --output:FILE --json --csv --markdown --html:FILE -h --help --version"
		;;
	series)
		operands="files"
		options="-l:LABEL --label:LABEL --by:run,command,threads,file --base:first,fastest,row,column --no-pager -o:FILE
			--output:FILE --json --csv --markdown --html:FILE -h --help --version"
		;;
	doctor)
		operands="none"
		options="--no-pager -o:FILE --output:FILE --json -h --help --version"
		;;
	help)
		operands="name"
		options="-h --help --version"
		;;
	esac
}
# end

_sbt_trace_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -W "$2" -- "$1")
}

_sbt_trace_pids() {
	local done_ pids pid

	# 12,34 -> complete the last number, keep what stands before it.
	done_=${1%"${1##*,}"}
	pids=
	for pid in /proc/[0-9]*; do
		pids+=" ${done_}${pid##*/}"
	done
	mapfile -t COMPREPLY < <(compgen -W "$pids" -- "$1")
}

_sbt_trace_comms() {
	local comm names

	# Processes may exit meanwhile.
	mapfile -t names < <(cat /proc/[0-9]*/comm 2>/dev/null | sort -u)
	# Names are untrusted: quoted for the shell, and not expanded by compgen -W.
	COMPREPLY=()
	for comm in "${names[@]}"; do
		[[ $comm == "$1"* ]] && COMPREPLY+=("$(printf '%q' "$comm")")
	done
}

_sbt_trace_events() {
	local names done_=${1%"${1##*,}"}

	# The counters of this machine; a,b -> complete the last one.
	mapfile -t names < <("${COMP_WORDS[0]}" list --events 2>/dev/null | awk '$3 == "yes" { print $1 }')
	mapfile -t COMPREPLY < <(compgen -W "${names[*]/#/$done_}" -- "$1")
}

# Complete the word $1, which is the value of option $2, described by $3.
_sbt_trace_value() {
	case $2:$3 in
	*:PID | --pid:LIST | -p:LIST) _sbt_trace_pids "$1" ;;
	*:FILE | *:RECORDING) _sbt_trace_files "$1" ;;
	--machine:*) _sbt_trace_files "$1" "${3//,/ }" ;;
	--cgroup:*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "${1:-/sys/fs/cgroup/}")
		;;
	--comm:*) _sbt_trace_comms "$1" ;;
	*:USER) mapfile -t COMPREPLY < <(compgen -u -- "$1") ;;
	-e:* | --events:*) _sbt_trace_events "$1" ;;
	*:[A-Z]*) ;;
	*) mapfile -t COMPREPLY < <(compgen -W "${3//,/ }" -- "$1") ;;
	esac
}

# Complete a command and its arguments, which begin at word $1.
_sbt_trace_command() {
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif (($1 == COMP_CWORD)); then
		mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

_sbt_trace() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=trace first=1 expected='' name='' options operands i word option
	local -A values=()

	COMPREPLY=()
	if ((COMP_CWORD > 1)) && [[ " $_sbt_trace_commands " == *" ${COMP_WORDS[1]} "* ]]; then
		command=${COMP_WORDS[1]}
		first=2
	fi
	_sbt_trace_options "$command"
	for option in $options; do
		[[ $option == *:* ]] && values[${option%%:*}]=${option#*:}
	done
	# Which option's value is the current word, and where does COMMAND begin? Bash may cut --option=value in three words.
	for ((i = first; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $expected ]]; then
			[[ $word == = ]] || expected=
			continue
		fi
		case $word in
		--)
			if [[ $operands == command ]]; then
				_sbt_trace_command $((i + 1))
				return
			fi
			;;
		-*)
			name=$word
			expected=${values[$word]-}
			;;
		*)
			if [[ $operands == command ]]; then
				_sbt_trace_command "$i"
				return
			fi
			;;
		esac
	done
	if [[ $expected ]]; then
		[[ $cur == = ]] && cur=
		_sbt_trace_value "$cur" "$name" "$expected"
	elif [[ $cur == -* || $operands != command ]]; then
		# Options without what describes their values.
		word=
		for option in $options; do
			word+=" ${option%%:*}"
		done
		if [[ $operands == name ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$word $_sbt_trace_commands" -- "$cur")
		elif [[ $operands == files ]]; then
			_sbt_trace_files "$cur" "$word"
		else
			[[ $operands == none ]] || word+=" --"
			mapfile -t COMPREPLY < <(compgen -W "$word" -- "$cur")
		fi
	else
		((COMP_CWORD > 1)) || mapfile -t COMPREPLY < <(compgen -W "$_sbt_trace_commands" -- "$cur")
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$cur")
	fi
}

complete -F _sbt_trace sbt-trace
