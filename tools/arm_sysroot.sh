#!/bin/sh
# Unpacks Debian packages of another architecture, and what they need, into a folder for a cross compiler and an emulator:
# nothing is installed, and the machine's list of architectures stays as it is. Usage: arm_sysroot.sh FOLDER PACKAGE...
set -eu
folder=$1
shift
stamp=$folder/.packages
[ "$(cat "$stamp" 2>/dev/null || true)" != "$*" ] || exit 0

rm -rf "$folder"
mkdir -p "$folder"
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
# apt's own files are somewhere else, and say that nothing is there yet; where packages come from is what the machine says.
cat >"$apt/conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
EOF
export APT_CONFIG="$apt/conf"
echo "arm_sysroot: fetching packages for arm64"
apt-get update -qq || echo "arm_sysroot: some of the machine's sources have nothing for arm64" >&2
apt-get install -qq --download-only --no-install-recommends -y "$@" >/dev/null || {
  echo "arm_sysroot: the machine's package sources lack these packages for arm64: $*" >&2
  exit 1
}
for package in "$apt"/cache/archives/*.deb; do
  case ${package##*/} in
    # The cross compiler has the C library's headers.
    libc6-dev_* | linux-libc-dev_* | libcrypt-dev_* | libc-dev-bin_*) ;;
    *) dpkg-deb -x "$package" "$folder" ;;
  esac
done
# A link to /lib would lead to this machine's libraries.
find "$folder" -type l -lname '/*' | while read -r link; do
  ln -sfr "$folder$(readlink "$link")" "$link"
done
echo "$*" >"$stamp"
