#!/usr/bin/env bash
# npm run test:image: builds deploy/Dockerfile and runs the image as its own user on a new volume, without a container engine:
# buildah does both, in chroots. The base image is a stand-in, because an image registry may be out of reach: the minimal
# system of this machine's Debian release from this machine's package archive, with the Node and the npm that run this script.
# The base image stays in .cache/image; remove that folder to make it anew.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "test:image: $*" >&2
  exit 1
}
for tool in buildah debootstrap; do
  command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install buildah debootstrap"
done
[ "$(id -u)" = 0 ] || fail 'debootstrap and chroot require root'

export BUILDAH_ISOLATION=chroot
base=docker.io/library/node:24-slim
image=localhost/llmbench:test
cache=$PWD/.cache/image
work=$(mktemp -d)
container=
mkdir -p "$cache"
# A store of its own: the stand-in must never be taken for the real image.
store() { buildah --root "$cache/storage" --runroot "$cache/run" --storage-driver vfs "$@"; }
clean_up() {
  [ -z "$container" ] || store rm "$container" >/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

make_base() {
  local system=$work/base archive release npm settings
  read -r archive release < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages')
  debootstrap --variant=minbase --include=ca-certificates "$release" "$system" "$archive" >"$work/debootstrap.log" 2>&1 ||
    { tail -5 "$work/debootstrap.log" >&2; fail 'debootstrap failed'; }
  install -D "$(node -p process.execPath)" "$system/usr/local/bin/node"
  npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
  mkdir -p "$system/usr/local/lib/node_modules" "$system/usr/local/etc"
  cp -r "$npm" "$system/usr/local/lib/node_modules/npm"
  for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$system/usr/local/bin/$name"; done
  # What the machine needs to reach its package registry.
  for settings in /etc/npmrc /usr/etc/npmrc /usr/local/etc/npmrc; do
    [ ! -f "$settings" ] || cat "$settings" >"$system/usr/local/etc/npmrc"
  done
  cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
  chroot "$system" groupadd --gid 1000 node
  chroot "$system" useradd --uid 1000 --gid node --create-home --shell /bin/bash node
  container=$(store from scratch)
  store copy -q "$container" "$system" / >/dev/null
  store config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
  store commit -q --rm "$container" "$base" >/dev/null
  container=
}

if ! store inspect --type image "$base" >/dev/null 2>&1; then
  echo 'making a stand-in for the base image …'
  make_base
fi

echo 'building deploy/Dockerfile …'
begun=$SECONDS
store bud --pull-never --network host --format docker -t "$image" -f deploy/Dockerfile . >"$work/build.log" 2>&1 ||
  { tail -40 "$work/build.log" >&2; fail 'the image does not build'; }
echo "built in $((SECONDS - begun)) s"

container=$(store from --pull-never "$image")
user=$(store inspect --format '{{.Docker.Config.User}}' "$container")
[ "$user" = node ] || fail "the image runs as '$user'"
# An engine gives a new volume the owner of the folder that it is mounted on.
volume=$work/runs
mkdir "$volume"
chown "$(store run "$container" -- stat -c %u:%g /runs)" "$volume"
port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
health=$(store inspect --format '{{index .Docker.Config.Healthcheck.Test 3}}' "$container")

in_image() {
  echo "── $1"
  store run --network host --volume "$volume:/runs" --env "LLMBENCH_PORT=$port" --env "HEALTH=$health" "$container" -- \
    bash -euo pipefail -c "$2" || fail "$1 failed"
}

in_image 'runs as node, which owns /runs' '
  [ "$(id -un)" = node ]
  touch /runs/.writable && rm /runs/.writable
  [ "$NODE_ENV" = production ]
  test -f /opt/llmbench/grafana-plugin/plugin.json -a -f /opt/llmbench/grafana-plugin/module.js
  ! find /opt/llmbench -name "*.test.*" -not -path "*/node_modules/*" | grep .
  [ ! -e /opt/llmbench/node_modules/jest ]'
in_image 'llmbench --version' 'llmbench --version'
in_image 'llmbench demo --once' 'llmbench demo --once --benchmark-duration 5 | tail -3; [ "$(ls /runs | wc -l)" -ge 1 ]'
in_image 'llmbench run --tokenizer, with gpt-tokenizer' '
  LLMBENCH_HOST=127.0.0.1 llmbench simulate --json >/dev/null &
  until (: </dev/tcp/127.0.0.1/"$LLMBENCH_PORT") 2>/dev/null; do kill -0 $!; sleep 0.2; done
  LLMBENCH_PORT= llmbench run --url "http://127.0.0.1:$LLMBENCH_PORT" --model sim-model --tokenizer o200k_base --isl 64 --osl 8 \
    --request-count 4 --json | grep -c "\"ok\": 4,"
  kill $!'
in_image 'llmbench runs query, with DuckDB' '[ "$(llmbench runs query "SELECT count(*) AS n FROM runs" --json)" = "{\"n\":2}" ]'
in_image 'llmbench serve, its health check and SIGTERM' '
  llmbench serve --host 127.0.0.1 &
  until node -e "$HEALTH"; do kill -0 $!; sleep 0.5; done
  node -e "fetch(\`http://127.0.0.1:$LLMBENCH_PORT/metrics\`).then((r) => r.text()).then((page) => process.exit(page.includes(\"llmbench_\") ? 0 : 1))"
  kill $!
  wait $! || [ $? = 130 ] || [ $? = 143 ]'
echo 'test:image: passed'
