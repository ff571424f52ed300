# The one place that makes the project's environment. Sourced by scripts/derive and scripts/test:
#   ensure_env run    the package and what it needs to run
#   ensure_env dev    the test tools and the oracle too
# Everything it says goes to standard error, so that a script's own output can be piped.
# PYTHON names another interpreter, LAYOUTALG_VENV another place than .venv.

ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
VENV=${LAYOUTALG_VENV:-$ROOT/.venv}

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 2; }

# The first Python that is new enough.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null 2>&1 &&
      "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# What an environment was made from: when any of it changes, it is made up to date again.
fingerprint() {
  printf '%s %s %s' "$(sha256sum <"$ROOT/pyproject.toml" | cut -c1-64)" "$ROOT" "$1"
}

# True if the environment is there and was made from this pyproject.toml for this checkout. The dev kind contains the run
# kind. A bin/python whose interpreter has been removed is a dangling link, which -x sees.
is_current() {
  local kind
  for kind in dev "$1"; do
    if [ -x "$VENV/bin/python" ] && [ "$(cat "$VENV/.made-$kind" 2>/dev/null)" = "$(fingerprint "$kind")" ]; then return 0; fi
  done
  return 1
}

# True if there is nothing at the environment's place that is not ours: nothing at all, an empty folder, or what these
# scripts made there before, whole or not. Only such a place is ever cleared.
is_ours() {
  [ ! -e "$VENV" ] && [ ! -L "$VENV" ] && return 0
  [ -d "$VENV" ] || return 1
  [ -e "$VENV/.made-by-layoutalg" ] || [ -e "$VENV/.made-run" ] || [ -e "$VENV/.made-dev" ] || [ -z "$(ls -A "$VENV")" ]
}

# An empty environment. Debian splits ensurepip into python3-venv; without it the pip outside installs into an
# environment that has none (pip --python, pip 22.3 or newer).
make_venv() {
  local python=$1
  is_ours || die "$VENV is not an environment that this script made, so it is left alone; move it away, or name another \
place: LAYOUTALG_VENV=/some/folder"
  rm -f "$VENV"/.made-*
  if "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
    "$python" -m venv --clear "$VENV" || die "could not make $VENV"
  elif "$python" -m pip --python "$python" --version >/dev/null 2>&1; then
    "$python" -m venv --clear --without-pip "$VENV" || die "could not make $VENV"
  else
    die "this Python has neither ensurepip nor a pip of 22.3 or newer; on Debian: apt install python3-venv"
  fi
  touch "$VENV/.made-by-layoutalg"
}

# The pip that installs into the environment, as words of a command, in PIP.
choose_pip() {
  if "$VENV/bin/python" -c 'import pip' >/dev/null 2>&1; then
    PIP=("$VENV/bin/python" -m pip)
  else
    PIP=("$1" -m pip --python "$VENV/bin/python")
  fi
}

venv_works() { "$VENV/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# What the tests of the page ask for besides Python: Pyodide and axe. Without npm, or without a network, those tests say
# that they were left out.
install_node_packages() {
  command -v npm >/dev/null 2>&1 || return 0
  npm install --fetch-retries 1 --fetch-timeout 60000 --silent --no-audit --no-fund --no-save --prefix "$VENV" pyodide@314 axe-core@4 </dev/null >/dev/null 2>&1 ||
    say "npm could not install pyodide and axe-core; their tests are left out"
}

install_project() {
  local kind=$1 target=$ROOT what="numpy, sympy and click; under a minute" started=$SECONDS log=$VENV/install.log python
  local options=(--no-input --disable-pip-version-check --progress-bar off) node=
  python=$(find_python) || die "Python 3.11 or newer is needed, and none was found (PYTHON=/path/to/python names one)"
  if [ "$kind" = dev ]; then
    target="$ROOT[dev]" what="its test tools and the CuTe DSL, a download of some hundred MB; a minute or more"
    # Most of these modules are never imported: compiling all of them takes longer than compiling those that are.
    options+=(--no-compile)
  fi
  if ! venv_works; then
    say "making the environment $VENV with $("$python" --version 2>&1)"
    make_venv "$python"
  fi
  choose_pip "$python"
  if [ "$kind" = dev ]; then
    install_node_packages &
    node=$!
  fi
  say "installing layoutalg with $what, this once"
  # Of pip's talk only the downloads are shown, as a sign of life; the whole of it is in the log.
  "${PIP[@]}" install "${options[@]}" --editable "$target" </dev/null 2>&1 |
    tee "$log" | sed -un 's/^ *Downloading \(.*\/\)\{0,1\}\([^ /]*\) \((.*)\)$/  \2 \3/p' >&2
  if [ "${PIPESTATUS[0]}" -ne 0 ]; then
    grep -iE '^ *error' "$log" | tail -n 12 >&2
    die "pip could not install the project; its whole output is in $log"
  fi
  if [ -n "$node" ]; then wait "$node"; fi
  fingerprint "$kind" >"$VENV/.made-$kind"
  say "the environment is ready after $((SECONDS - started)) s"
}

ensure_env() {
  is_current "$1" && return 0
  mkdir -p "$(dirname "$VENV")"
  # One maker at a time: a second script started meanwhile waits here and then finds the work done.
  exec 9>"$VENV.lock"
  if command -v flock >/dev/null 2>&1 && ! flock -n 9; then
    say "another run is making $VENV; waiting for it"
    flock 9
  fi
  is_current "$1" || install_project "$1"
  exec 9>&-
}
