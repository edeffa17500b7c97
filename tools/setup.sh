#!/bin/sh
# Installs what a build needs and is missing. Usage: setup.sh build|demo|test|arm
#   build  compilers and libraries
#   demo   also a Python environment (.venv) with ONNX Runtime
#   test   also the packages that the tests compare with
#   arm    what demo installs, Debian's cross compiler for aarch64, QEMU, and aarch64's libraries in build-arm/sysroot
set -eu
cd "$(dirname "$0")/.."
what=${1:-build}

libraries="libfmt-dev libprotozero-dev libdnnl-dev libflatbuffers-dev libhwy-dev libxxhash-dev zlib1g-dev libre2-dev libyaml-dev libpng-dev libopenjp2-7-dev libgtest-dev"
# ImageDecoder loads these; its tests need them.
codecs="libturbojpeg0 libopenjp2-7 libtiff6 libwebp7"
packages="g++ cmake ninja-build flatbuffers-compiler python3 $libraries"
[ "$what" = build ] || packages="$packages python3-venv ca-certificates"
# The test of what is installed asks pkg-config; pages are tested in Chromium, and their scripts in Node.js; terminals in tmux, and
# completion in each shell.
[ "$what" != test ] || packages="$packages $codecs pkg-config clang-format-14 python3-dev chromium nodejs tmux zsh fish"
[ "$what" != arm ] || packages="$packages g++-aarch64-linux-gnu qemu-user"

missing=""
for p in $packages; do
  case "$(dpkg-query -W -f='${Status}' "$p" 2>/dev/null || true)" in
    *"install ok installed"*) ;;
    *) missing="$missing $p" ;;
  esac
done

if [ -n "$missing" ]; then
  command -v apt-get >/dev/null || { echo "setup: these packages are missing, and there is no apt-get to install them:$missing" >&2; exit 1; }
  if [ "$(id -u)" = 0 ]; then
    sudo=""
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo="sudo"
  else
    echo "setup: packages are missing. Run this line, then try again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
  fi
  echo "setup: installing$missing"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if [ "$what" = arm ]; then
  tools/arm_sysroot.sh build-arm/sysroot $libraries $codecs
  what=demo
fi

# The Python environment is made again when the list of its packages changes.
[ "$what" = build ] && exit 0
requirements="tools/requirements-$what.txt"
stamp=".venv/.installed-$what"
if ! cmp -s "$requirements" "$stamp"; then
  echo "setup: installing Python packages of $requirements into .venv"
  if { [ -x .venv/bin/python ] || /usr/bin/python3 -m venv .venv; } &&
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements"; then
    cp "$requirements" "$stamp"
  else
    echo "setup: without these packages, what needs them is left out: --onnxrt, the Python package, and the tests that compare with them" >&2
  fi
fi
