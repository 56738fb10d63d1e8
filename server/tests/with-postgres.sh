#!/usr/bin/env bash
# Runs a command with a scratch PostgreSQL server: starts one on a free port of 127.0.0.1 in a
# temporary folder, names it in REDRIVE_TEST_POSTGRES, and takes it away afterwards.
set -euo pipefail

bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)" 2>/dev/null || true)
[ -x "$bin/initdb" ] || bin=$(dirname "$(command -v initdb || echo /nowhere/initdb)")
[ -x "$bin/initdb" ] || { echo "No PostgreSQL server programs (initdb) found." >&2; exit 1; }

dir=$(mktemp -d)
chmod 755 "$dir"
as=()
if [ "$(id -u)" = 0 ]; then # initdb refuses root
  id postgres >/dev/null 2>&1 && user=postgres || user=nobody
  chown "$user" "$dir"
  as=(runuser -u "$user" --)
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null || echo $((20000 + RANDOM % 20000)))
cd "$dir"
"${as[@]}" "$bin/initdb" -D "$dir/data" -U postgres -A trust --no-sync >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
ssl=off
if command -v openssl >/dev/null; then # encrypted connections are tested too
  "${as[@]}" env tls="$dir/data" bash -euo pipefail -c '
    umask 077
    cd "$tls"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redrive-test -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout server.key -out server.csr
    echo subjectAltName=IP:127.0.0.1 >server.ext
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt
  ' >"$dir/openssl.log" 2>&1 || { cat "$dir/openssl.log" >&2; exit 1; }
  ssl=on
  cp "$dir/data/ca.crt" "$dir/ca.crt"
  export REDRIVE_TEST_POSTGRES_CA="$dir/ca.crt"
fi
"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -w -l "$dir/data/log" start >/dev/null \
  -o "-p $port -k $dir/data -c listen_addresses=127.0.0.1 -c max_connections=400 -c ssl=$ssl -c fsync=off -c full_page_writes=off -c synchronous_commit=off"
stop() { "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"; }
trap stop EXIT
cd "$OLDPWD"
export REDRIVE_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
"$@"
