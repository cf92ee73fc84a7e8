#!/bin/sh
# Installs tool, or removes it: sh install.sh [--cli] [--no-signature] [--uninstall] [--help]
#
# shellcheck disable=SC2015
# POSIX sh, for dash, bash and BusyBox. All of it is in functions that the last line calls: a script that arrives in part does
# nothing. cli/release/README.md says what it decides and why.

# The release fills these in.
ORIGIN='@ORIGIN@'
# The edition that is installed where none is asked for and none is there.
DEFAULT_EDITION='@EDITION@'
# Ed25519 keys that may sign a release, one a line: as OpenSSH writes them, and as PEM without its marks.
SSH_KEYS='@SSH_KEYS@'
PEM_KEYS='@PEM_KEYS@'
PREFIX='/usr/local'

usage() {
  cat <<END
Installs tool from $ORIGIN

  sh install.sh [options]

  --cli            without the log service and the layer for Python and Java
  --no-signature   install even if this machine has no program that verifies signatures
  --uninstall      remove what this script installed
  --help

Variables:
  VERSION          the version of the release to install (default: the newest)
  EDITION          pro or free (default: the one that is installed, else $DEFAULT_EDITION)
  BINDIR           the folder of the command (default: $PREFIX/bin, or ~/.local/bin if that is not writable)
  ARCHIVES         a folder for archives: one that is there is verified and not downloaded, else it is kept there
  GIT_HOST_TOKEN   a token for the Git host, against its limit for requests without one
END
}

main() {
  prepare
  kind=tool action=install_tool needs_signature=1
  for word in "$@"; do
    case $word in
      --cli) kind=tool-cli ;;
      --no-signature) needs_signature=0 ;;
      --uninstall) action=uninstall_tool ;;
      --help | -h) usage; exit 0 ;;
      *) say "error: unknown option $word"; usage >&2; exit 2 ;;
    esac
  done
  $action
}

# What the caller's surroundings may have that changes what commands mean.
prepare() {
  set -u
  unset CDPATH
  IFS=' 	
'
  unalias -a 2>/dev/null || :
  LC_ALL=C
  export LC_ALL
  # What is installed for all can be read by all.
  umask 022
  callers_path=${PATH-}
  PATH=$(absolute_folders "$callers_path")
  [ -n "$PATH" ] || PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
  export PATH
  lock='' temporary='' staging='' watcher='' tab=$(printf '\t')
  trap clean EXIT
  # No program that is started here needs to see it.
  token=${GIT_HOST_TOKEN-}
  # Of a list of files, a statement or a signature. The archive's size is signed.
  most_bytes=4194304
  # A transfer that brings less than this in a second, for so long, is given up.
  least_bytes=1024 slow_seconds=60
  # Size of what an archive unpacks to. The largest that there is has less than a quarter of it.
  most_unpacked_bytes=2147483648
  unset GIT_HOST_TOKEN
  case $ORIGIN in
    https://*) ;;
    *) fail "this script is a part of a release, which fills in where to download from" "take install.sh of a release" ;;
  esac
  edition=${EDITION-}
  case $edition in
    '' | pro | free) ;;
    *) fail "EDITION is neither pro nor free: $edition" "leave it out for ${DEFAULT_EDITION}, or what is installed" ;;
  esac
  case $token in
    *[!A-Za-z0-9_.=+/~-]*) fail "GIT_HOST_TOKEN has characters that no token has" "set it to the token alone, without quotes and line ends" ;;
  esac
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# The absolute folders of a PATH: programs of the folder that this is called in are not meant.
absolute_folders() {
  (
    IFS=:
    set -f
    folders=''
    for folder in $1; do
      case $folder in /*) folders=$folders${folders:+:}$folder ;; esac
    done
    printf '%s\n' "$folders"
  )
}

clean() {
  stop_watcher
  [ -z "$staging" ] || rm -rf "$staging"
  [ -z "$lock" ] || rm -f "$lock"
  # Those that are empty: nothing was installed.
  [ ! -f "$temporary/folders" ] || remove_folders <"$temporary/folders"
  [ -z "$temporary" ] || rm -rf "$temporary"
}

# make_folder PATH: with those above it. The receipt lists what was not there, so that it goes when tool is removed.
make_folder() {
  folder=$1
  until [ -e "$folder" ] || [ -h "$folder" ]; do
    printf '%s\n' "$folder"
    folder=$(dirname "$folder")
  done | sort >>"$temporary/folders"
  mkdir -p "$1"
}

# Removes the folders of stdin, a line each, but for those that have anything in them.
remove_folders() {
  sort -r | while IFS= read -r folder; do
    case $folder in /*) rmdir "$folder" 2>/dev/null ;; esac
  done
}

say() { printf '%s\n' "$1" >&2; }

# fail MESSAGE HINT
fail() {
  say "error: $1"
  [ $# -lt 2 ] || say "  $2"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

install_tool() {
  find_system
  find_downloader
  find_summer
  find_verifier
  find_unpacker
  choose_folders
  temporary=$(mktemp -d "${TMPDIR:-/tmp}/tool-install.XXXXXX") || fail "there is no room for temporary files in ${TMPDIR:-/tmp}" "set TMPDIR to another folder"
  { make_folder "$library" && make_folder "$bindir"; } || fail "$library and $bindir cannot be created" "run this as root, or set BINDIR to a folder of yours"
  take_lock
  check_command
  choose_edition
  read_release
  read_statement
  if is_installed; then
    target=$library/$own_folder
    make_link "$to_library/$own_folder/bin/tool" "$command"
    # A link that the receipt does not list would stay when tool is removed.
    list_share | while IFS=$tab read -r place source; do
      ! receipt_lists "$place" || printf '%s\t%s\n' "$place" "$source"
    done | link_share
    say "tool $named is installed already: $command"
  else
    download_archive
    unpack
    switch
    say "tool $named is installed: $command"
  fi
  say_path
}

# --- what this machine is and has

find_system() {
  os=$(uname -s) arch=$(uname -m)
  with_npm="tool runs there on a Node of your own: npm install --global with the address of the release's tool-VERSION.tgz"
  case $os in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) fail "this script does not install on Windows" "download the .zip of the release, or use WSL" ;;
    *) fail "there is no release of tool for $os" "$with_npm" ;;
  esac
  # A shell under Rosetta says x86_64 on a machine that is arm64.
  if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  case $arch in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no release of tool for $os on $arch" "$with_npm" ;;
  esac
  if [ "$os" = linux ]; then
    case $(ldd --version 2>&1) in
      *musl*) fail "this system has musl, and the releases of tool need glibc" "$with_npm" ;;
    esac
  fi
  system=$os-$arch
}

find_downloader() {
  if has curl; then
    downloader=curl
  elif has wget; then
    # BusyBox' wget takes any certificate.
    case $(unset WGETRC && wget --version 2>&1) in
      *'GNU Wget'*) downloader=wget ;;
      *) fail "the wget of this system does not check certificates" "install curl or GNU wget, then run this again" ;;
    esac
  else
    fail "there is neither curl nor wget" "install curl, then run this again"
  fi
}

find_summer() {
  if has sha256sum; then
    summer=sha256sum
  elif has shasum; then
    summer='shasum -a 256'
  else
    fail "there is neither sha256sum nor shasum" "install coreutils, then run this again"
  fi
}

find_verifier() {
  verifier=none
  if has openssl; then
    # Older ones, and LibreSSL, do not verify Ed25519 signatures of files.
    case $(openssl version 2>/dev/null) in 'OpenSSL '[3-9].*) verifier=openssl ;; esac
  fi
  if has ssh-keygen; then
    # Before OpenSSH 8.1 it does not know -Y.
    case $(ssh-keygen -Y verify </dev/null 2>&1) in
      *'unknown option'* | *'illegal option'*) ;;
      *) verifier=ssh-keygen ;;
    esac
  fi
  [ "$verifier" = none ] || return 0
  [ "$needs_signature" = 0 ] ||
    fail "no program here verifies the signature of the release" "install openssh-client (8.1 or newer) or openssl (3 or newer); --no-signature goes on without"
  say "warning: the signature of the release is not verified, only the sums that it names"
}

find_unpacker() {
  has tar || fail "there is no tar" "install tar, then run this again"
  has awk || fail "there is no awk" "install awk, then run this again"
  if has xz; then
    ending=.tar.xz unpacker=xz
  elif has gzip; then
    ending=.tar.gz unpacker=gzip
  else
    fail "there is neither xz nor gzip" "install xz-utils, then run this again"
  fi
}

# Sets bindir, library (the folder of all that is not the command) and prefix, which is empty if there is no share folder.
choose_folders() {
  if [ -n "${BINDIR-}" ]; then
    folders_of "$BINDIR"
    can_write "$bindir" && can_write "$library" || fail "$bindir is not writable" "run this as root, or set BINDIR to a folder of yours"
  else
    folders_of "$PREFIX/bin"
    if ! can_write "$bindir" || ! can_write "$library"; then
      [ -n "${HOME-}" ] || fail "$PREFIX is not writable, and HOME is not set" "run this as root, or set BINDIR to a folder of yours"
      say "$PREFIX is not writable: tool is installed for you alone, in $HOME/.local (for all: run this as root)"
      folders_of "$HOME/.local/bin"
      can_write "$bindir" && can_write "$library" || fail "$HOME/.local is not writable either" "set BINDIR to a folder of yours"
    fi
  fi
}

folders_of() {
  bindir=$1
  case $bindir in /*) ;; *) bindir=$(pwd)/$bindir ;; esac
  # The receipt and the lists here have a line for each path.
  case $bindir in *[[:cntrl:]]*) fail "the path of the command's folder has a line end or another control character" "set BINDIR to another folder" ;; esac
  while :; do case $bindir in ?*/) bindir=${bindir%/} ;; *) break ;; esac done
  # A relative link in a folder that is a link itself would begin somewhere else.
  case $bindir in
    ?*/bin) prefix=${bindir%/bin} library=${bindir%/bin}/lib/tool to_library=../lib/tool ;;
    *) prefix='' library=$bindir/.tool to_library=.tool ;;
  esac
  [ ! -h "$bindir" ] || to_library=$library
  command=$bindir/tool receipt=$library/receipt.json
}

# Whether a folder can be written to, or made.
can_write() {
  folder=$1
  until [ -e "$folder" ]; do folder=$(dirname "$folder"); done
  [ -d "$folder" ] && [ -w "$folder" ]
}

# The same file as that of tool upgrade: two at once would remove each other's files.
take_lock() {
  tries=0
  until (set -C; printf '%s\n' "$$" >"$library/.lock") 2>/dev/null; do
    tries=$((tries + 1))
    if [ ! -e "$library/.lock" ]; then
      # Another one may have let it go just now.
      [ "$tries" -le 3 ] || fail "$library is not writable" "run this as root, or set BINDIR to a folder of yours"
      continue
    fi
    owner=$(cat "$library/.lock" 2>/dev/null)
    if [ "$tries" -gt 3 ] || is_running "$owner"; then
      fail "another installation or upgrade is at work (process ${owner:-unknown})" "wait for it; if there is none, remove $library/.lock"
    fi
    # It was killed. Another one may have taken the lock over since it was read, and keeps it.
    aside=$library/.lock.$$
    mv "$library/.lock" "$aside" 2>/dev/null || continue
    [ "$(cat "$aside" 2>/dev/null)" = "$owner" ] || ln "$aside" "$library/.lock" 2>/dev/null || :
    rm -f "$aside"
  done
  lock=$library/.lock
  # Folders of runs that were killed, but for one that the command is in.
  in_use=$(readlink "$command" 2>/dev/null)
  for left in "$library"/.new.*; do
    case $in_use in *"/${left##*/}/"*) ;; *) rm -rf "$left" ;; esac
  done
  rm -f "$library"/.lock.*
  # And links that they had not renamed.
  for left in "$command".new.* "$prefix"/share/*/*/*tool*.new.*; do
    if is_ours "$left"; then rm -f "$left"; fi
  done
}

is_running() {
  # One that has not written its id yet.
  case $1 in '' | *[!0-9]*) return 0 ;; esac
  kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1
}

# A command that something else put there stays.
check_command() {
  [ -e "$command" ] || [ -h "$command" ] || return 0
  is_ours "$command" || fail "$command exists, and this script did not install it" "remove it, or set BINDIR to another folder"
}

# The edition of this machine stays unless another one is asked for: tool upgrade may have changed it.
choose_edition() {
  [ -z "$edition" ] || return 0
  edition=$DEFAULT_EDITION
  [ -f "$receipt" ] && json_values <"$receipt" >"$temporary/receipt" || return 0
  case $(receipt_value edition) in
    pro) edition=pro ;;
    free) edition=free ;;
  esac
}

# Whether a path is a symbolic link into the library.
is_ours() {
  [ -h "$1" ] || return 1
  target=$(readlink "$1")
  case $target in
    "$library"/* | "$to_library"/*) return 0 ;;
    *) return 1 ;;
  esac
}

# --- the Git host

# fetch URL FILE [ACCEPT]: follows redirects, by https alone; the token goes to the Git host's own address and to no other.
fetch() {
  url=$1 hops=0
  while :; do
    case $url in
      https://*[!!-~]*) fail "the Git host names an address with blanks: $url" ;;
      https://*) ;;
      *) fail "the Git host names an address that is not https: $url" ;;
    esac
    bearer=''
    if [ "$(host_of "$url")" = "$(host_of "$ORIGIN")" ]; then bearer=$token; fi
    "request_by_$downloader" "$url" "$2" "${3-}"
    case $status in
      301 | 302 | 303 | 307 | 308) ;;
      *) return 0 ;;
    esac
    hops=$((hops + 1))
    [ "$hops" -le 5 ] || fail "$1 redirects more than five times" "run this again later"
    case $location in
      /*) url=https://$(host_of "$url")$location ;;
      *) url=$location ;;
    esac
  done
}

# The host and the port of an address.
host_of() {
  rest=${1#https://}
  rest=${rest%%[/?#]*}
  printf '%s\n' "$rest"
}

# Sets status and location. The headers go through stdin: arguments are for all to see.
request_by_curl() {
  if [ "$progress" = 1 ]; then
    show=--progress-bar
    exec 3>&2
  else
    show='--silent --show-error'
    exec 3>"$temporary/errors"
  fi
  # Unquoted: two words.
  # shellcheck disable=SC2086
  {
    [ -z "$bearer" ] || printf 'header = "Authorization: Bearer %s"\n' "$bearer"
    [ -z "$3" ] || printf 'header = "Accept: %s"\n' "$3"
  } | limited curl -q --config - --globoff $show --proto =https --max-redirs 0 --connect-timeout 30 --speed-limit "$least_bytes" --speed-time "$slow_seconds" --retry 2 \
    --user-agent tool-install --output "$2" --write-out '%{http_code} %{redirect_url}\n' "$1" >"$temporary/answer" 2>&3 || broken "$1"
  read -r status location <"$temporary/answer"
}

request_by_wget() {
  {
    cat "${WGETRC:-${HOME-}/.wgetrc}" 2>/dev/null
    printf '\n'
    [ -z "$bearer" ] || printf 'header = Authorization: Bearer %s\n' "$bearer"
    [ -z "$3" ] || printf 'header = Accept: %s\n' "$3"
  } >"$temporary/wgetrc"
  rm -f "$temporary/process" "$temporary/slow"
  watch_file "$2" </dev/null >/dev/null 2>&1 &
  watcher=$!
  # It has the process id of the shell that it replaces.
  # shellcheck disable=SC2016
  limited sh -c 'echo $$ >"$0" && exec "$@"' "$temporary/process" \
    wget --config="$temporary/wgetrc" -nv --server-response --check-certificate --no-netrc --max-redirect=0 --timeout="$slow_seconds" --tries=2 \
    --user-agent=tool-install -O "$2" "$1" 2>"$temporary/errors"
  ended=$?
  stop_watcher
  status=$(awk '$1 ~ /^HTTP\// { status = $2 } END { print status }' "$temporary/errors")
  location=$(awk 'tolower($1) == "location:" { location = $2 } END { print location }' "$temporary/errors")
  # 8: the server answered with an error, or a redirect.
  case $ended in 0 | 8) ;; *) broken "$1" ;; esac
  [ -n "$status" ] || broken "$1"
}

# watch_file FILE: ends a wget whose file hardly grows. Its own limit is of the time between two reads, however little they bring.
watch_file() {
  sleeper=''
  trap 'kill $sleeper; exit' TERM
  before=0
  while :; do
    sleep "$slow_seconds" &
    sleeper=$!
    # There is no sleep.
    wait "$sleeper" || exit
    now=$(wc -c <"$1") || now=0
    if [ $((now - before)) -lt $((least_bytes * slow_seconds)) ]; then
      : >"$temporary/slow"
      kill "$(cat "$temporary/process")"
      exit
    fi
    before=$now
  done
}

stop_watcher() {
  # Bash tells which of its processes were killed.
  [ -z "$watcher" ] || { kill "$watcher"; wait "$watcher"; } 2>/dev/null
  watcher=''
}

# limited COMMAND...: with files of little more than $most_bytes at most, as an answer may be without end. Blocks are 512 bytes,
# those of bash 1,024.
limited() {
  (
    trap '' XFSZ 2>/dev/null
    case $(ulimit -f) in unlimited) ulimit -f $((most_bytes / 512 + 128)) ;; esac
    "$@"
  )
}

broken() {
  if [ -e "$temporary/slow" ]; then
    fail "the download of $1 failed: less than $least_bytes bytes a second came for $slow_seconds seconds" "check the network, then run this again"
  fi
  why=$(grep -e '^curl: ' -e '^ERROR' -e '^wget: ' "$temporary/errors" 2>/dev/null | head -n 1)
  [ -n "$why" ] || why=$(grep -v -e '^ ' -e '^$' "$temporary/errors" 2>/dev/null | tail -n 1)
  fail "the download of $1 failed: ${why:-the connection broke}" "check the network and the free space in $temporary, then run this again"
}

# read_release: sets version, and $temporary/release has what the Git host says of it.
read_release() {
  wanted=${VERSION-}
  wanted=${wanted#v}
  wanted=${wanted%-pro}
  case $wanted in *[!0-9A-Za-z.-]*) fail "VERSION is not a version: $VERSION" "write it as 1.2.3" ;; esac
  if [ -n "$wanted" ]; then of=tags/v$wanted; else of=latest; fi
  progress=0
  fetch "$ORIGIN/releases/$of" "$temporary/release.json" application/json
  case $status in
    200) ;;
    401) fail "the Git host does not accept GIT_HOST_TOKEN (401)" "set a token that is valid, or none" ;;
    403 | 429)
      [ -z "$token" ] || fail "the Git host refuses the request ($status): GIT_HOST_TOKEN may not read the releases, or its own limit is reached" "use another token, or run this again in an hour"
      fail "the Git host refuses the request ($status Forbidden): its limit for requests without a token is reached" "set GIT_HOST_TOKEN to a token of yours, or run this again in an hour"
      ;;
    404)
      [ -z "$wanted" ] || fail "there is no version $wanted" "see the releases of the project, or leave VERSION out for the newest"
      fail "$ORIGIN has no release" "check that the project is there; a private one needs GIT_HOST_TOKEN"
      ;;
    *) fail "the Git host answers $status" "run this again later" ;;
  esac
  json_values <"$temporary/release.json" >"$temporary/release" || fail "the Git host's answer is not understood" "run this again later"
  version=$(awk -F '\t' '$1 == ".tag_name" { print $2; exit }' "$temporary/release")
  version=${version#v}
  case $version in
    *[!0-9A-Za-z.-]*) version='' ;;
    [0-9]*.[0-9]*.[0-9]*) ;;
    *) version='' ;;
  esac
  [ -n "$version" ] || fail "the Git host names no version" "run this again later"
  [ -z "$wanted" ] || [ "$wanted" = "$version" ] || fail "version $wanted was asked for, and the Git host names $version" "run this again later"
}

# The values of a JSON text, a line each: their path, a tab and the value, such as `.assets.0.name`. No token of JSON has a
# line end in it. Fails within what is not JSON.
json_values() {
  awk '
    # Slashes, quotes and backslashes alone: of what is read here nothing else is escaped.
    function unescaped(value,  all) {
      while (match(value, /\\["\\\/]/)) {
        all = all substr(value, 1, RSTART - 1) substr(value, RSTART + 1, 1)
        value = substr(value, RSTART + 2)
      }
      return all value
    }
    function path(  i, all) {
      for (i = 1; i <= depth; i++) all = all "." (type[i] == "[" ? at[i] : key[i])
      return all
    }
    {
      text = $0
      while (text != "") {
        first = substr(text, 1, 1)
        size = 1
        if (first ~ /[ \t\r]/) { match(text, /^[ \t\r]+/); size = RLENGTH }
        else if (first == "{" || first == "[") { type[++depth] = first; at[depth] = 0; is_key = first == "{" }
        else if (first == "}" || first == "]") { if (depth-- < 1) exit wrong = 1; is_key = 0 }
        else if (first == ",") { if (type[depth] == "[") at[depth]++; else is_key = 1 }
        else if (first == ":") is_key = 0
        else if (first == "\"") {
          if (!match(text, /^"([^"\\]|\\.)*"/)) exit wrong = 1
          size = RLENGTH
          value = unescaped(substr(text, 2, size - 2))
          if (is_key) key[depth] = value; else print path() "\t" value
        } else {
          if (!match(text, /^[-+.0-9A-Za-z]+/)) exit wrong = 1
          size = RLENGTH
          print path() "\t" substr(text, 1, size)
        }
        text = substr(text, size + 1)
      }
    }
    END { exit wrong || depth != 0 }'
}

# asset NAME FILE: downloads a file of the release.
asset() {
  # A token is for the API; without one, the other address has no limit.
  if [ -n "$token" ]; then member=url; else member=browser_download_url; fi
  address=$(awk -F '\t' -v name="$1" -v member="$member" '
    $1 ~ /^\.assets\.[0-9]+\.[a-z_]+$/ { split($1, part, "."); if (part[4] == "name" && $2 == name) found = part[3]; if (part[4] == member) of[part[3]] = $2 }
    END { if (found != "") print of[found] }' "$temporary/release")
  [ -n "$address" ] || fail "the release $version has no file $1" "choose another VERSION"
  fetch "$address" "$2" application/octet-stream
  [ "$status" = 200 ] || fail "the download of $1 failed: the Git host answers $status" "run this again later"
}

# --- what the release signs

# Sets name, bytes and sum: those of the archive for this machine. And own, the version of the edition, own_folder, the name of
# its folder in the library, and named, what people are told.
read_statement() {
  statement=$temporary/RELEASE
  asset RELEASE "$statement"
  case $verifier in
    ssh-keygen)
      asset RELEASE.sig "$statement.sig"
      printf '%s\n' "$SSH_KEYS" | sed '/./s/^/release@tool /' >"$temporary/signers"
      ssh-keygen -Y verify -f "$temporary/signers" -I release@tool -n tool-release -s "$statement.sig" <"$statement" >/dev/null 2>&1 || not_signed
      ;;
    openssl)
      asset RELEASE.ed25519 "$statement.ed25519"
      is_signed=0
      for key in $PEM_KEYS; do
        printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$key" >"$temporary/key.pem"
        if openssl pkeyutl -verify -pubin -inkey "$temporary/key.pem" -rawin -in "$statement" -sigfile "$statement.ed25519" >/dev/null 2>&1; then is_signed=1; fi
      done
      [ "$is_signed" = 1 ] || not_signed
      ;;
  esac
  case $(sed -n 1p "$statement") in
    'tool-release 1') ;;
    'tool-release '*) fail "the release $version is of a later kind than this script" "download the script anew: it is one of the files of the release" ;;
    *) fail "the release $version has no statement of its files" "choose another VERSION, and report it to the project" ;;
  esac
  # The command takes what there is, too.
  if [ "$ending" = .tar.xz ] && has gzip && ! grep -q '\.tar\.xz$' "$statement"; then ending=.tar.gz unpacker=gzip; fi
  signed=$(awk '$1 == "version" { print $2 }' "$statement")
  [ "$signed" = "$version" ] || fail "version $version was asked for, and what is signed is $signed" "report it to the project and install nothing"
  own=$(awk -v edition="$edition" '$1 == "edition" && $2 == edition { print $3; exit }' "$statement")
  case ${own:=$version} in
    *[!0-9A-Za-z.-]* | [!0-9]*) fail "the release $version has a version that is not understood: $own" "report it to the project and install nothing" ;;
  esac
  # The numbers of both editions are independent: the same one may be there of each.
  if [ "$edition" = pro ]; then own_folder=$own named=$own; else own_folder=$edition-$own named="$own ($edition)"; fi
  set -f
  # Unquoted: three words.
  # shellcheck disable=SC2046
  set -- $(awk -v edition="$edition" -v platform="$system" -v kind="$kind" -v ending="$ending" '
    $1 == "file" && $2 == edition && $3 == platform && $4 == kind && substr($7, length($7) - length(ending) + 1) == ending { print $5, $6, $7; exit }' "$statement")
  if [ $# -ne 3 ]; then
    ! awk -v platform="$system" '$1 == "file" && $3 == platform { found = 1 } END { exit !found }' "$statement" ||
      awk -v edition="$edition" '$1 == "file" && $2 == edition && $3 != "any" { found = 1 } END { exit !found }' "$statement" ||
      fail "the release $version has no $edition edition" "choose another VERSION or EDITION"
    fail "the release $version has no archive for $system" "choose another VERSION; $with_npm"
  fi
  set +f
  sum=$1 bytes=$2 name=$3
  case $bytes:$name in
    *[!0-9]*:* | *:*[!0-9A-Za-z._-]* | *:.*) fail "the release $version has a line that is not understood: $name" "report it to the project and install nothing" ;;
  esac
}

not_signed() {
  fail "the signature of the release $version is wrong" "do not install it; download this script anew, and if it stays so, report it to the project"
}

download_archive() {
  # Whoever can write there cannot sign: it is copied, then verified.
  kept=${ARCHIVES:+$ARCHIVES/$name}
  if [ -n "$kept" ] && [ -f "$kept" ]; then
    head -c "$((bytes + 1))" <"$kept" >"$temporary/$name"
    if [ "$(sum_of "$temporary/$name")" = "$sum" ]; then
      say "$kept is the archive that was signed"
      return
    fi
    say "$kept is not the archive that was signed: it is replaced"
    rm -f "$kept"
  fi
  say "downloading $name ($((bytes / 1000000)) MB)"
  if [ -t 2 ]; then progress=1; fi
  most_bytes=$bytes
  asset "$name" "$temporary/$name"
  progress=0
  got=$(wc -c <"$temporary/$name")
  [ "$((got))" = "$bytes" ] || fail "$name is incomplete: $((got)) of $bytes bytes came" "run this again"
  [ "$(sum_of "$temporary/$name")" = "$sum" ] || fail "$name is not the file that was signed: its sum differs" "run this again; if it stays so, report it to the project"
  [ -z "$kept" ] || { mkdir -p "$ARCHIVES" && cp "$temporary/$name" "$kept"; } || say "warning: $kept could not be written"
}

sum_of() { $summer <"$1" | cut -d ' ' -f 1; }

# --- the installation

# Sets new: the unpacked folder, beside where it goes, so that it is renamed.
unpack() {
  staging=$(mktemp -d "$library/.new.XXXXXX") || fail "$library is not writable" "run this as root, or set BINDIR to a folder of yours"
  most_bytes=$most_unpacked_bytes
  limited expand >"$staging/archive.tar"
  [ ! -e "$temporary/large" ] || fail "$name unpacks to more than $((most_unpacked_bytes / 1000000)) MB" "report it to the project and install nothing"
  [ ! -e "$temporary/failed" ] || cannot_unpack
  # There may be room for it or for what it has.
  rm -f "$temporary/$name"
  check_entries
  (cd "$staging" && limited tar -xof archive.tar) 2>>"$temporary/errors" || cannot_unpack
  rm -f "$staging/archive.tar"
  new=$staging/${name%"$ending"}
  # Hard links, too, that a tar does not list as such.
  refuse_entry "$(find "$new" ! -type d \( ! -type f -o -links +1 \) | head -n 1)"
  [ -x "$new/bin/tool" ] || fail "$name has no command" "report it to the project"
  answer=$("$new/bin/tool" version 2>&1) || cannot_run
  says=$answer
  [ "$edition" != pro ] || says=${answer%-pro}
  [ "$says" = "$own" ] || fail "the new command says that it is $answer, not $named" "report it to the project"
  # Unquoted: a program and its words.
  # shellcheck disable=SC2086
  (cd "$new" && find . ! -type d -exec $summer {} +) | sed 's/ [ *]\.\// /' | sort -k 2 >"$temporary/files"
}

# The tar of the archive, to stdout.
expand() {
  {
    $unpacker -dc "$temporary/$name" || : >"$temporary/failed"
  } 2>"$temporary/errors" | {
    if head -c "$most_unpacked_bytes"; then
      [ "$(($(head -c 1 | wc -c)))" = 0 ] || : >"$temporary/large"
    else
      : >"$temporary/failed"
    fi
  } 2>>"$temporary/errors"
}

cannot_unpack() {
  fail "$name cannot be unpacked in $library: $(tail -n 1 "$temporary/errors")" "check that there is room, then run this again"
}

# An archive of a release has files and folders of one folder, each once. Tars differ in what they make of anything else, so
# nothing of it is unpacked then.
check_entries() {
  {
    tar -tf "$staging/archive.tar" >"$temporary/names" && tar -tvf "$staging/archive.tar" >"$temporary/entries"
  } 2>>"$temporary/errors" || cannot_unpack
  refuse_entry "$(awk -v folder="${name%"$ending"}" '{
    path = $0
    sub(/\/$/, "", path)
    if (path ~ /[^ -~]/ || index(path, "\\") || (path != folder && index(path, folder "/") != 1) || ("/" path "/") ~ /\/\.?\.?\// || seen[path]++) { print path == "" ? "an empty name" : $0; exit }
  }' "$temporary/names")"
  # Neither a file nor a folder, or a link to one.
  refuse_entry "$(awk '!/^[-d]/ || / -> / || / link to / { print; exit }' "$temporary/entries")"
}

# refuse_entry ENTRY: if there is one.
refuse_entry() {
  [ -z "$1" ] || fail "$name has an entry that no archive of a release has: $(printf '%s' "$1" | tr -c ' -~' '?')" "report it to the project and install nothing"
}

cannot_run() {
  case $answer in
    # Node needs it since version 26, and a system without a compiler may lack it.
    *'libatomic.so.1: cannot open'*) fail "this system lacks the library libatomic.so.1, which tool $own needs" "install it as root, then run this again: apt-get install libatomic1, or dnf install libatomic" ;;
  esac
  fail "tool $own does not run here: $answer" "$with_npm"
}

# Whether the version is there as the receipt says, with all its files.
is_installed() {
  [ -f "$receipt" ] || return 1
  # What a damaged one lists would be linked, moved and removed: the version is installed as if there were none.
  read_receipt || {
    say "$receipt is damaged: the version is installed anew"
    : >"$temporary/receipt"
    return 1
  }
  [ "$(receipt_value version)" = "$own" ] && [ "$(receipt_value edition)" = "$edition" ] && [ "$(receipt_value kind)" = "$kind" ] &&
    [ "$(receipt_value folder)" = "$library/$own_folder" ] && [ -d "$library/$own_folder" ] || return 1
  sed -n 's/^\.files\.\(.*\)	\([0-9a-f]*\)$/\2  \1/p' "$temporary/receipt" >"$temporary/files"
  (cd "$library/$own_folder" && $summer -c "$temporary/files") >/dev/null 2>&1
}

# Fails if it is damaged.
read_receipt() { json_values <"$receipt" >"$temporary/receipt" && refuse_managed && is_whole; }

receipt_value() {
  awk -F '\t' -v path=".$1" '$1 == path { print $2; exit }' "$temporary/receipt"
}

# Whether it lists a link.
receipt_lists() {
  awk -F '\t' '$1 ~ /^\.links\./ { print $2 }' "$temporary/receipt" | grep -Fqx -e "$1"
}

refuse_managed() {
  manager=$(receipt_value manager.name)
  [ -z "$manager" ] || fail "tool was installed by $manager" "use that: $(receipt_value manager.upgrade)"
}

# The command works after each of these steps: it is the old one until its link is renamed, then the new one.
switch() {
  trap '' HUP INT TERM
  target=$library/$own_folder
  find_previous
  if [ -e "$target" ]; then
    # Damaged, or of another kind: the command is the unpacked one while that is replaced.
    on_disk "$new" && mkdir "$staging/copy" && cp -Rp "$new" "$staging/copy" && make_link "$to_library/${new#"$library"/}/bin/tool" "$command" &&
      mv "$target" "$staging/old" && mv "$staging/copy/${new##*/}" "$target"
  else
    mv "$new" "$target"
  fi && on_disk "$target" || fail "$target cannot be written" "check that there is room, then run this again"
  # While the receipt still lists it.
  if [ -n "$outdated" ]; then remove_files "$outdated" .previous.files; fi
  list_share | while IFS=$tab read -r place source; do make_folder "${place%/*}"; done
  write_receipt
  make_link "$to_library/$own_folder/bin/tool" "$command"
  list_share | link_share
}

# Links the man page and the completions of $target that stdin has, as list_share prints them, where their folders are.
link_share() {
  while IFS=$tab read -r place source; do
    [ ! -d "${place%/*}" ] || make_link "$target/$source" "$place"
  done
}

# Waits until a folder, and its name in the one above, is on the disk: after a power cut the link could be the new one, and the files that it leads to empty.
on_disk() {
  has sync || return 0
  # Some take no files: they write all that there is.
  { find "$1" ! -type l -exec sync {} + && sync "${1%/*}"; } 2>/dev/null || sync
}

# The version before this one stays until the next: what runs of it still reads its files. Sets previous, the folder of it,
# previous_files, the member of the receipt that lists its files, and outdated, the folder of the version before that.
find_previous() {
  previous='' outdated=''
  [ -s "$temporary/receipt" ] || return 0
  previous=$(receipt_value folder) previous_version=$(receipt_value version) previous_files=.files
  outdated=$(receipt_value previous.folder)
  if [ "$previous" = "$target" ]; then
    previous=$outdated previous_version=$(receipt_value previous.version) previous_files=.previous.files outdated=''
  fi
  if [ "$outdated" = "$target" ] || [ "${outdated%/*}" != "$library" ]; then outdated=''; fi
  if [ ! -d "$previous" ] || [ "${previous%/*}" != "$library" ]; then previous=''; fi
}

write_receipt() {
  {
    printf '{\n  "receipt": 1,\n  "version": "%s",\n  "edition": "%s",\n  "kind": "%s",\n' "$own" "$edition" "$kind"
    printf '  "platform": "%s",\n  "origin": "%s",\n' "$system" "$ORIGIN"
    printf '  "command": "%s",\n  "folder": "%s",\n' "$(json_text "$command")" "$(json_text "$target")"
    printf '  "links": ['
    list_share | while IFS=$tab read -r place source; do json_text "$place"; done | sed 's/.*/    "&",/' | listed
    printf '],\n  "folders": ['
    list_folders | while IFS= read -r folder; do json_text "$folder"; done | sed 's/.*/    "&",/' | listed
    printf '],\n  "files": {'
    sed 's/^\([0-9a-f]*\) \(.*\)$/    "\2": "\1",/' "$temporary/files" | listed
    printf '}'
    if [ -n "$previous" ]; then
      printf ',\n  "previous": {\n  "version": "%s",\n  "folder": "%s",\n  "files": {' "$previous_version" "$(json_text "$previous")"
      awk -F '\t' -v member="$previous_files." 'index($1, member) == 1 { printf "    \"%s\": \"%s\",\n", substr($1, length(member) + 1), $2 }' "$temporary/receipt" | listed
      printf '}\n  }'
    fi
    printf ',\n'
  } >"$staging/receipt.json" && receipt_sum=$(sum_of "$staging/receipt.json") && end_receipt "$receipt_sum" >>"$staging/receipt.json" && mv -f "$staging/receipt.json" "$receipt" || fail "$receipt cannot be written" "check that there is room, then run this again"
}

# end_receipt SUM: the end of a receipt, with the sum of all before it.
end_receipt() { printf '  "sum": "%s"\n}\n' "$1"; }

# Whether the receipt is as it was written. Its last two lines are those of end_receipt.
is_whole() {
  sed '$d' "$receipt" | sed '$d' >"$temporary/listed"
  listed_sum=$(sum_of "$temporary/listed")
  end_receipt "$listed_sum" >>"$temporary/listed"
  [ "$(sum_of "$temporary/listed")" = "$(sum_of "$receipt")" ]
}

# The folders that this run or those before it made.
list_folders() {
  {
    awk -F '\t' '$1 ~ /^\.folders\./ { print $2 }' "$temporary/receipt"
    cat "$temporary/folders"
  } 2>/dev/null | sort -u
}

json_text() { printf '%s\n' "$1" | sed 's/[\\"]/\\&/g'; }

# Lines that each end in a comma, without that of the last one.
listed() { awk '{ if (NR > 1) print line; else print ""; line = $0 } END { if (NR > 0) { sub(/,$/, "", line); printf "%s\n  ", line } }'; }

# The man page and the completions: where the system looks for them below the prefix, and what goes there. Never in place of
# what is there already.
list_share() {
  [ -n "$prefix" ] || return 0
  while read -r place source; do
    [ -f "$target/$source" ] && can_write "$prefix/${place%/*}" || continue
    place=$prefix/$place
    if [ -h "$place" ]; then
      case $(readlink "$place") in "$library"/*) ;; *) continue ;; esac
    elif [ -e "$place" ]; then
      continue
    fi
    printf '%s\t%s\n' "$place" "$source"
  done <<END
share/man/man1/tool.1 share/man/man1/tool.1
share/bash-completion/completions/tool share/completions/tool.bash
share/zsh/site-functions/_tool share/completions/_tool
share/fish/vendor_completions.d/tool.fish share/completions/tool.fish
END
}

# make_link TARGET PATH: by rename, so that there is always one.
make_link() {
  ln -s "$1" "$2.new.$$" && mv -f "$2.new.$$" "$2" || fail "$2 cannot be written" "run this as root, or set BINDIR to a folder of yours"
}

say_path() {
  case :$callers_path: in
    *:"$bindir":*)
      first=$(PATH=$callers_path && command -v tool)
      case $first in '' | "$command") ;; *) say "PATH has another tool before this one: $first" ;; esac
      ;;
    *) say "add it to PATH, in ~/.profile or the like: export PATH=\"$bindir:\$PATH\"" ;;
  esac
}

# --- removing it

uninstall_tool() {
  if [ -n "${BINDIR-}" ]; then
    folders_of "$BINDIR"
  else
    folders_of "$PREFIX/bin"
    if [ ! -f "$receipt" ] && [ -n "${HOME-}" ]; then folders_of "$HOME/.local/bin"; fi
  fi
  [ -f "$receipt" ] || fail "there is no $receipt: this script did not install tool there" "set BINDIR to the folder of the command; npm uninstall -g tool removes what npm installed"
  [ -w "$library" ] && [ -w "$bindir" ] || fail "$library or $bindir is not writable" "run this as root"
  find_remover
  take_lock
  trap '' HUP INT TERM
  awk -F '\t' '$1 ~ /^\.links\./ { print $2 }' "$temporary/receipt" | while read -r place; do
    case $(readlink "$place") in "$library"/*) rm -f "$place" ;; esac
  done
  if is_ours "$command"; then rm -f "$command"; fi
  for member in .files .previous.files; do
    folder=$(receipt_value "$(printf '%s' "${member#.}" | sed 's/files$/folder/')")
    [ "${folder%/*}" != "$library" ] || remove_files "$folder" "$member"
  done
  folders=$(list_folders)
  rm -f "$receipt"
  clean
  lock='' temporary=''
  rmdir "$library" 2>/dev/null || say "left: $library has files that this script did not put there"
  printf '%s\n' "$folders" | remove_folders
  say "tool is removed: $command"
}

find_remover() {
  has awk || fail "there is no awk" "install awk, then run this again"
  find_summer
  temporary=$(mktemp -d "${TMPDIR:-/tmp}/tool-install.XXXXXX") || fail "there is no room for temporary files in ${TMPDIR:-/tmp}" "set TMPDIR to another folder"
  read_receipt || fail "$receipt is damaged" "install the same version again, then remove it"
}

# remove_files FOLDER MEMBER: the files that a member of the receipt lists, and the folders that are empty then.
remove_files() {
  awk -F '\t' -v member="$2." 'index($1, member) == 1 { print substr($1, length(member) + 1) }' "$temporary/receipt" |
    grep -v -e '^/' -e '^\.\./' -e '/\.\./' | tr '\n' '\0' | (cd "$1" && xargs -0 rm -f --)
  find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null
}

main "$@"
