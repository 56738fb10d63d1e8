#!/usr/bin/env bash
# Sees to the programs that building (`build`) or testing (`test`) needs. Says what is missing and
# why; installs it where it may (as root, or with sudo that asks for no password), otherwise says
# which command does.
set -euo pipefail

want=${1:-build}
packages=()
need() { # program, package, why
  command -v "$1" >/dev/null 2>&1 && return
  echo "Missing: $1 ($3): package $2"
  packages+=("$2")
}

need cc build-essential "a C compiler, for the embedded SQLite and the TLS library"
need npm npm "brings Node programs: wasm-opt, which shrinks the browser's half, and the browser tests"
if [ "$want" = test ]; then
  [ -n "${CHROMIUM:-}" ] || need chromium chromium "the browser that the end-to-end tests drive"
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb postgresql "a scratch database server for the tests"
  need promtool prometheus "evaluates the example alert rules over a replay"
  PATH="$PATH:/usr/sbin" need pgbouncer pgbouncer "a pooling proxy, behind which the tests read and act"
fi

if [ ${#packages[@]} -gt 0 ]; then
  command="apt-get install -y --no-install-recommends ${packages[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "Please install them with your system's package manager, then start again." >&2
    exit 1
  elif [ "$(id -u)" = 0 ]; then
    echo "Installing them: $command"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $command
  elif sudo -n true 2>/dev/null; then
    echo "Installing them: sudo $command"
    sudo -n apt-get update -qq
    sudo -n DEBIAN_FRONTEND=noninteractive $command
  else
    echo "Please run: sudo $command" >&2
    exit 1
  fi
fi

# Distributions often have an older Node than the tests need: a newer one then comes with npm.
major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
if [ "$major" -lt 20 ] && [ ! -x .tools/node/bin/node ]; then
  case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "Please install Node 20 or newer." >&2; exit 1 ;; esac
  echo "Installing Node 20 into .tools: wasm-opt and the browser tests need it, and here is ${major/#0/none}."
  npm install --silent --no-audit --no-fund --prefix .tools/npm "node-linux-$arch@20"
  ln -sfn "npm/node_modules/node-linux-$arch" .tools/node
fi

command -v cargo >/dev/null || { echo "Missing: a Rust toolchain, 1.95 or newer (see https://rustup.rs)." >&2; exit 1; }
if command -v rustup >/dev/null && ! rustup target list --installed | grep -q wasm32-unknown-unknown; then
  echo "Installing the Rust target wasm32-unknown-unknown: the browser's half is compiled to it."
  rustup target add wasm32-unknown-unknown
fi
if [ "$want" = test ] && command -v rustup >/dev/null; then
  rustup component add clippy rustfmt >/dev/null 2>&1 || true
fi
