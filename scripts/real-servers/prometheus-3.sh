#!/usr/bin/env bash
# Unpacks Prometheus 3, promtool and Alertmanager from the next Debian release. Nothing is installed on the machine and its
# apt configuration is not changed. Requires Debian 12 or later with apt; elsewhere Prometheus 3 and promtool are copied out
# of the image of docker-compose.yml with docker.
#
# usage: prometheus-3.sh [FOLDER]     the programs are then in FOLDER/usr/bin (default .cache/prometheus-3)
set -euo pipefail

suite=forky
packages=(prometheus promtool prometheus-alertmanager)
sources=/etc/apt/sources.list.d/debian.sources
folder=$(realpath -m "${1:-$(dirname "$0")/../../.cache/prometheus-3}")

fail() { echo "prometheus-3: $*" >&2; exit 1; }

[ -x "$folder/usr/bin/prometheus" ] && [ -x "$folder/usr/bin/promtool" ] && exit 0

from_image() {
  local image container
  image=$(awk '$1 == "image:" && $2 ~ "^prom/prometheus:" { print $2; exit }' "$(dirname "$0")/../../docker-compose.yml")
  container=$(docker create --quiet "$image") || fail "docker create $image failed"
  mkdir -p "$folder/usr/bin"
  for program in prometheus promtool; do docker cp --quiet "$container:/bin/$program" "$folder/usr/bin/$program"; done
  docker rm "$container" >/dev/null
}

if [ ! -r "$sources" ]; then
  command -v docker >/dev/null || fail "requires Debian 12 or later, or docker; or set PROMETHEUS_3_BIN to a folder with Prometheus 3"
  from_image
  exit 0
fi

mirror=$(awk '/^URIs:/ { print $2; exit }' "$sources")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
cat >"$work/apt.conf" <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
END
export APT_CONFIG=$work/apt.conf
cd "$work"
apt-get -qq update || fail "apt-get update failed for $suite"
apt-get -qq download "${packages[@]}" || fail "apt-get download failed"
for package in ./*.deb; do dpkg-deb -x "$package" "$work/root"; done
"$work/root/usr/bin/prometheus" --version >/dev/null || fail "Prometheus does not start on this machine"
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$work/root" "$folder"
