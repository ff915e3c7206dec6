#!/usr/bin/env bash
# A server for a team, from nothing to the second start: docs/server.md goes through it line by line.
#
#   DATABASE_URL=postgresql://rookery:PASSWORD@db/rookery ARTIFACTS=s3://bucket/rookery ./team_server.sh FOLDER
#
# The database must be empty; credentials of the object store are in the variables that its library reads (AWS_ACCESS_KEY_ID …).
# Without ARTIFACTS files go to FOLDER/files. MLFLOW_PYTHON is a Python that has mlflow, for the stock client (left out without).
# People are folders here; in life they are machines, with a ROOKERY_HOME (~/.rookery) of their own each.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?FOLDER}" && cd "$1" && team=$PWD
port=${PORT:-8787}
url=https://127.0.0.1:$port/rookery
server=

as() { # as NAME COMMAND…: in that person's folder, with that person's own settings
  local name=$1 && shift
  mkdir -p "$team/$name" && (cd "$team/$name" && ROOKERY_HOME="$team/homes/$name" "$@")
}
say() { printf '\n== %s\n' "$*"; }
serve() { # starts the server in the background; returns once it answers
  as server exec rookery server --port "$port" --tls-cert "$team/cert.pem" --tls-key "$team/key.pem" --prefix /rookery "$@" \
    >>"$team/server.log" 2>&1 &
  for _ in $(seq 600); do
    if curl -fs --cacert "$team/cert.pem" "$url/healthz" >/dev/null; then
      server=$(as server rookery keeper status --json | sed -n 's/^  "pid": \([0-9]*\),$/\1/p')
      return
    fi
    kill -0 $! 2>/dev/null || { cat "$team/server.log"; return 1; }
    sleep 0.2
  done
  return 1
}
stop() { # ends it as Ctrl-C does, and waits until it is gone
  [ -z "$server" ] || kill -INT "$server"
  while [ -n "$server" ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; done
  server=
}
trap stop EXIT

say "it begins on one machine, on SQLite"
as server rookery init --name birds
cp "$here/train.py" "$team/server/"
as server rookery run train.py

say "the record moves to PostgreSQL"
as server rookery keeper stop
as server rookery db copy "sqlite:///$team/server/.rookery/record.db" "$DATABASE_URL"

say "the server, with TLS and a prefix"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=birds \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$team/key.pem" -out "$team/cert.pem" 2>/dev/null
serve --database "$DATABASE_URL" --artifacts "${ARTIFACTS:-$team/files}"

say "ann is the owner, and lets bob and cleo in"
echo "ann's long password" | as server rookery user add ann --role owner --password-stdin
echo "ann's long password" | as ann rookery login "$url" --ca "$team/cert.pem" --user ann --password-stdin
echo "bob's long password" | as ann rookery user add bob --role contributor --password-stdin
echo "cleo's long password" | as ann rookery user add cleo --role reader --password-stdin
as ann rookery user list

say "bob submits from his own machine"
echo "bob's long password" | as bob rookery login "$url" --ca "$team/cert.pem" --user bob --password-stdin
cp "$here/train.py" "$team/bob/"
as bob rookery run train.py

if [ -n "${MLFLOW_PYTHON:-}" ]; then
  say "bob's old script logs with a stock MLflow client"
  token=$(as bob rookery token create --name mlflow)
  as bob env MLFLOW_TRACKING_URI="$url" MLFLOW_TRACKING_TOKEN="$token" MLFLOW_TRACKING_SERVER_CERT_PATH="$team/cert.pem" \
    "$MLFLOW_PYTHON" "$here/track.py"
fi

say "the server is started again; it knows its database and its files"
stop
serve

say "cleo reads, and may not submit"
echo "cleo's long password" | as cleo rookery login "$url" --ca "$team/cert.pem" --user cleo --password-stdin
cp "$here/train.py" "$team/cleo/"
as cleo rookery ps
if as cleo rookery run train.py; then echo "a reader has submitted a run" >&2 && exit 1; fi
as cleo rookery download @last --to files

say "who did what, and a backup"
as ann rookery audit -n 5
as server rookery db backup
as server rookery db status
