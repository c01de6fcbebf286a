# shellcheck shell=bash
# tool/common.sh -- what every script in tool/ shares: settings, messages, steps, the lock.
#
# Usage: . "$(dirname "$0")/common.sh"
#
# The Makefile exports the settings; the defaults serve a script that is called by hand.

set -euo pipefail

SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
BUILD=${BUILD:-$PWD/build}
JOBS=${JOBS:-$(nproc)}
# shellcheck disable=SC2034
{
    base=$BUILD/base/ruby   # the pristine unpacked base: the source of stock
    tree=$BUILD/tree        # base and series: the source of ours
}

# shellcheck source=base.lock
. "$SRCDIR/base.lock"

# version_of FOLDER: the version of the Ruby whose sources lie there, as its headers say.
version_of() {
    awk '$1 == "#define" && $2 ~ /^RUBY_API_VERSION_(MAJOR|MINOR)$/ { v = v $3 "." }
         $1 == "#define" && $2 == "RUBY_VERSION_TEENY" { teeny = $3 }
         END { print v teeny }' "$1/include/ruby/version.h" "$1/version.h" 2>/dev/null
}

# known_versions: those that pass all tests.
known_versions() { awk 'NF { printf "%s%s", comma, $1; comma = ", " }' <<<"$known"; }

# our_version: the version of our part, which a header at the top level defines.
our_version() { sed -n 's/^#define RUBY_LOCKFREE_VERSION "\(.*\)"$/\1/p' "$SRCDIR/lockfree.h"; }

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }

# verdict FAILED TOTAL: the last line of a runner, as tool/test counts it; fails if anything did.
verdict() {
    if [ "$1" = 0 ]; then say "PASS all $2 tests"; else say "FAIL $1/$2 tests"; return 1; fi
}

# fail MESSAGE [WAY-OUT...]: one clear error, each way out on a line of its own.
fail() {
    printf '\nerror: %s\n' "$1" >&2
    shift
    for line; do printf '  %s\n' "$line" >&2; done
    exit 1
}

# free_mb: how many megabytes the disk of the build folder has left.
free_mb() { df -Pm "$BUILD" | awk 'NR == 2 { print $4 }'; }

# room MB: stop while the disk has less: what runs out of room on the way may fail without saying so, and configure takes
# it for a feature that the machine lacks.
room() {
    local free
    free=$(free_mb) || :
    [ "${free:-$1}" -ge "$1" ] || fail "$free MB are free on the disk of $BUILD; $1 MB are needed for the next step" \
        "Make room there and run make again, or start again in a folder on another disk."
}

# disk_full LOG: whether a command has failed for want of room, as far as its log or the disk tells.
disk_full() {
    local free
    free=$(free_mb) || :
    [ "${free:-16}" -lt 16 ] || tail -n 100 "$1" | grep -qE 'No space left|Out of diskspace|enough free space|[Qq]uota exceeded'
}

# step NAME DESCRIPTION COMMAND...: run a command with its output in a log; say what is done, and how long it took.
# Where a caller tests its status, `set -e` does not hold in COMMAND (a rule of the shell): a function chains with &&.
step() {
    local name=$1 what=$2 log=$BUILD/log/$1.log start=$SECONDS status=0 ticker
    shift 2
    mkdir -p "$BUILD/log"
    printf '%s: %s (log: %s) ' "$name" "$what" "$log"
    tick & ticker=$!
    "$@" >"$log" 2>&1 9>&- </dev/null || status=$?
    kill "$ticker" 2>/dev/null || :
    wait "$ticker" 2>/dev/null || :
    if [ "$status" != 0 ]; then
        printf 'FAILED after %d s\n' $((SECONDS - start))
        tail -n 25 "$log" | sed 's/^/  | /' >&2
        ! disk_full "$log" || fail "$name failed, and the disk of $BUILD is full" \
            "Make room there and run make again: it goes on from what is whole."
        return "$status"
    fi
    printf '%d s\n' $((SECONDS - start))
}

# tick: a dot every ten seconds, until killed or left alone.
tick() {
    local sleeper
    exec 9>&-
    trap 'kill "$sleeper" 2>/dev/null || :; exit' TERM
    while kill -0 $$ 2>/dev/null; do
        sleep 10 >/dev/null 2>&1 & sleeper=$!
        wait "$sleeper"
        printf .
    done
}

# cruby COMMAND...: run a command of CRuby's build without our settings: its makefiles and runners read some of the names.
cruby() {
    env -u SRCDIR -u BUILD -u JOBS -u DESTDIR -u RUBY_SOURCE -u RUBY_CONFIGURE_ARGS -u BASERUBY \
        -u TESTS -u TESTOPTS -u BTESTS -u MSPECOPT -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEFILES \
        -u RUBYOPT -u RUBYLIB "$@"
}

# cruby_make NAME ARGUMENTS...: make in build/NAME.
cruby_make() {
    local name=$1
    shift
    cruby "${MAKE:-make}" -j"$JOBS" -C "$BUILD/$name" "$@"
}

# lock: one make at a time works in a build folder; a second one waits. Scripts called by a holder pass.
lock() {
    [ "${LOCK_HELD:-}" != "$BUILD" ] || return 0
    mkdir -p "$BUILD"
    exec 9>"$BUILD/lock"
    flock -n 9 || { say "waiting for another make in $BUILD"; flock 9; }
    export LOCK_HELD=$BUILD
}

# scratch NAME: sets $scratch to an empty folder that goes away when the script ends, however it ends.
scratch() {
    scratch=$BUILD/$1.tmp
    rm -rf "$scratch"
    mkdir -p "$scratch"
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}
