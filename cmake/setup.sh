# shellcheck shell=bash
# Sourced by ./run, ./test and .ci/run: installs what a Debian machine lacks, configures, builds and tests. What is there
# already is left alone, so that a second run starts at once.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
log=$root/build/setup.log

packages=(
  ca-certificates cmake g++ ninja-build nlohmann-json3-dev python3-glad  # to build
  libbenchmark-dev libgmock-dev libgtest-dev libonnx-testdata valgrind   # to test and measure
  libegl-mesa0 libegl1 libgl1-mesa-dri libgles2 libvulkan1               # to run on OpenGL ES and Vulkan
  libglfw3-dev libstb-dev libx11-dev xvfb                                # to show and test windows
  glslang-tools libvulkan-dev                                            # to be a Vulkan host
  libavcodec-dev libavdevice-dev libavformat-dev libswscale-dev pkgconf  # to read and write videos
)
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  packages+=(nodejs npm) # to fetch Dawn and ANGLE
fi

# condense: of a tool's output, one changing line on a terminal and a line now and then elsewhere; all of it in the log.
condense() {
  local line next=15
  SECONDS=0
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    line=$(sed -E 's#[a-z+]+://[^ ]+ ?##g' <<<"$line") # addresses say nothing about the progress
    if [ -t 1 ]; then
      printf '\r\033[K   %.76s' "$line"
    elif ((SECONDS >= next)); then
      printf '   %.100s\n' "$line"
      next=$((SECONDS + 15))
    fi
  done
  if [ -t 1 ]; then printf '\r\033[K'; fi
}

# stage TEXT COMMAND...: says what is being done, and shows what went wrong.
stage() {
  echo "== $1"
  mkdir -p "$(dirname "$log")"
  : >"$log"
  if ! "${@:2}" 2>&1 | condense; then
    tail -n 40 "$log"
    echo "== $1: failed; all of its output is in ${log#"$root"/}"
    return 1
  fi
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends "$@"
}

missing_packages() {
  local installed name
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^ii *//p')
  for name in "${packages[@]}"; do
    grep -qx "$name" <<<"$installed" || echo "$name"
  done
}

install_packages() {
  local missing
  missing=$(missing_packages | paste -sd ' ')
  if [ -z "$missing" ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    echo "These packages are missing; please ask an administrator to install them:"
    echo "  apt-get install $missing"
    exit 1
  fi
  stage "Updating the list of packages" apt_get update || exit 1
  # shellcheck disable=SC2086 # one word each
  stage "Installing $missing" apt_get install $missing || exit 1
}

# ---- lavapipe, Mesa's Vulkan on the CPU. Dawn takes it from Mesa 23 on; Debian 12 has that in its backports. It is many
# times faster than SwiftShader, which comes with ANGLE and does where lavapipe cannot be had.

is_recent_mesa() {
  [ -n "$1" ] && dpkg --compare-versions "$1" ge 23
}

has_lavapipe() {
  is_recent_mesa "$(dpkg-query -W -f '${Version}' mesa-vulkan-drivers 2>/dev/null || true)"
}

# The machine's own entry for the Debian suite $1, in either format, changed to suite $2.
copy_debian_source() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk -v RS= -v from="$1" -v to="$2" '
      $0 ~ "(^|\n)Suites:([^\n]* )?" from "( |\n|$)" && $0 !~ /(^|\n)Enabled: *no/ {
        sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " to)
        print
        exit
      }' "$file"
  done >/etc/apt/sources.list.d/tessera-backports.sources
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    sed -nE "s/^(deb( +\[[^]]*\])? +[^ ]+) +$1( .*)/\1 $2\3/p" "$file"
  done | head -n 1 >/etc/apt/sources.list.d/tessera-backports.list
  find /etc/apt/sources.list.d -name 'tessera-backports.*' -empty -delete
}

install_lavapipe() {
  local refused=$root/build/no-lavapipe suite
  if has_lavapipe; then return; fi
  if [ -f "$refused" ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    echo "== No lavapipe (mesa-vulkan-drivers 23 or later): Vulkan runs on the slower SwiftShader"
    return
  fi
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  if is_recent_mesa "$(apt-cache policy mesa-vulkan-drivers | sed -n 's/ *Candidate: //p')"; then
    stage "Installing lavapipe" apt_get install mesa-vulkan-drivers && return
  else
    copy_debian_source "$suite" "$suite-backports"
    stage "Updating the list of packages with Debian's backports" apt_get update &&
      stage "Installing lavapipe from the backports" apt_get install -t "$suite-backports" mesa-vulkan-drivers && return
    rm -f /etc/apt/sources.list.d/tessera-backports.*
  fi
  echo "== No lavapipe: Vulkan runs on the slower SwiftShader (remove ${refused#"$root"/} to try again)"
  touch "$refused"
}

install_missing() {
  if command -v dpkg-query >/dev/null; then
    install_packages
    install_lavapipe
  else
    echo "== Not a Debian machine: this needs what these packages hold: ${packages[*]}"
  fi
  # The driver that the commit chooses for a test has to be there.
  if ! has_lavapipe; then export TESSERA_DRIVERS=all; fi
}

targets= # to build; none: all
build() {
  local tree=$root/build/$preset
  install_missing
  if [ ! -f "$tree/build.ninja" ] || [ ! -f "$root/build/third_party/stamp" ]; then
    (cd "$root" && stage "Configuring; the first time fetches Dawn and ANGLE, about 120 MB" cmake --preset "$preset") || exit 1
  fi
  # shellcheck disable=SC2086 # one word each
  stage "Building" cmake --build "$tree" ${targets:+--target $targets} || exit 1
}

# run_tests TREE ARGUMENT...: runs ctest there, adds its cases to `passed`, `failed` and `skipped`, and fails where one did.
passed=0 failed=0 skipped=0
run_tests() {
  local tree=$1 results=$1/test-results failures=$1/Testing/Temporary/LastTestsFailed.log status=0 name
  local tests_failed tests_skipped
  rm -rf "$results" "$failures"
  mkdir -p "$results"
  ctest --test-dir "$tree" -j "$(nproc)" --output-on-failure --no-tests=error "${@:2}" || status=$?

  # Each program wrote down its own cases. One that failed without a failed case in there crashed, hung or leaked: that
  # counts as a failed case.
  total() { # total PATTERN: the sum of what the result files say at their top
    cat "$results"/*.json 2>/dev/null | awk -v pattern="^  \"$1\":" '$0 ~ pattern { sum += $2 } END { print sum + 0 }'
  }
  tests_failed=$(total failures)
  tests_skipped=$(cat "$results"/*.json 2>/dev/null | grep -c '"result": "SKIPPED"' || true)
  passed=$((passed + $(total tests) - tests_failed - $(total disabled) - tests_skipped))
  if [ -f "$failures" ]; then
    while IFS=: read -r _ name; do
      grep -q '^  "failures": [1-9]' "$results/$name.json" 2>/dev/null || tests_failed=$((tests_failed + 1))
    done <"$failures"
  fi
  if ((status != 0 && tests_failed == 0)); then tests_failed=1; fi
  failed=$((failed + tests_failed))
  skipped=$((skipped + tests_skipped))
  ((tests_failed == 0))
}

print_counts() {
  echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
}

# For web pages: Emscripten, and a Chromium to run them in. The preset web-jspi has a newer Emscripten, which takes a newer
# compiler.
web_packages=(chromium emscripten googletest)
is_web=
use_web() { # use_web [PRESET]
  preset=${1:-web} is_web=yes
  packages+=("${web_packages[@]}")
  if [ "$preset" = web-jspi ]; then packages+=(clang-22 lld-22 llvm-22); fi
  export NODE_PATH=${NODE_PATH:-/usr/share/nodejs} # where Debian has the modules that Emscripten takes
}

# Takes --help, --build-only, --preset NAME, --web and --web-jspi off the front; the rest is left in `arguments`.
parse_arguments() {
  build_only=
  while [ $# -gt 0 ]; do
    case $1 in
      --help) usage && exit ;;
      --build-only) build_only=yes ;;
      --preset) preset=${2:?--preset needs a name} && shift ;;
      --web) use_web ;;
      --web-jspi) use_web web-jspi ;;
      *) break ;;
    esac
    shift
  done
  arguments=("$@")
}
