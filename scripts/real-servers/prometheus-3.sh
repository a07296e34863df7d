#!/usr/bin/env bash
# Unpacks Prometheus 3, promtool and Alertmanager from the next Debian release. Nothing is installed on the machine and its
# apt configuration is not changed. Requires Debian 12 or later with apt.
#
# usage: prometheus-3.sh [FOLDER]     the programs are then in FOLDER/usr/bin (default .cache/prometheus-3)
set -euo pipefail

suite=forky
packages=(prometheus promtool prometheus-alertmanager)
sources=/etc/apt/sources.list.d/debian.sources
folder=$(realpath -m "${1:-$(dirname "$0")/../../.cache/prometheus-3}")

fail() { echo "prometheus-3: $*" >&2; exit 1; }

[ -x "$folder/usr/bin/prometheus" ] && [ -x "$folder/usr/bin/promtool" ] && exit 0
[ -r "$sources" ] || fail "no $sources: requires Debian 12 or later; or set PROMETHEUS_3_BIN to a folder with Prometheus 3"
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
