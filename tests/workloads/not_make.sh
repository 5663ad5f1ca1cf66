#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
#
# A parallel make: no threads, processes that wait for one another by a pipe and by wait().
#   not_make.sh [JOBS [TARGETS]]
set -eu
jobs=${1:-4}
targets=${2:-40}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk -v n="$targets" 'BEGIN {
	printf "all: sum\n\tcat sum\nsum:"
	for (i = 0; i < n; i++)
		printf " part%d", i
	printf "\n\tcat $^ | wc -l > $@\npart%%:\n\techo $* | sort | md5sum > $@\n"
}' >"$folder/Makefile"
made=$(MAKEFLAGS='' make -s -j "$jobs" -C "$folder")
[ "$made" = "$targets" ] || exit 1
echo "not_make: targets=$made episodes=0 ok"
