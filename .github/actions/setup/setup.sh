#!/usr/bin/env bash
# The steps of the action beside it: `setup.sh version` finds the version, so that it is a part of the cache's key, and
# `setup.sh install` installs it. The cache keeps the archive alone, as others may have written to it: install.sh verifies that
# by the signature of the release each time, and what is installed already by its receipt. Inputs come as variables, so that nothing of them is read as a part
# of this script.
set -euo pipefail

fail() {
  local text=${2//'%'/%25}
  text=${text//$'\r'/%0D}
  # As one line: the next one could be a command of its own.
  echo "::error title=$1::${text//$'\n'/%0A}"
  exit 1
}

host=${GITHUB_SERVER_URL:-https://github.com}/$TOOL_REPOSITORY
case $TOOL_KIND in
  tool) flags=() ;;
  tool-cli) flags=(--cli) ;;
  *) fail kind "kind is tool or tool-cli" ;;
esac

find_version() {
  local version=${TOOL_VERSION#v}
  if [ "$version" = latest ]; then
    # This page redirects to the newest release, and has no limit of requests as the API has.
    version=$(curl -q -fsS --proto =https --retry 3 -o /dev/null -w '%{redirect_url}' "$host/releases/latest") ||
      fail version "the newest version is not found at $host/releases/latest: name a version"
    case $version in
      */tag/v*) version=${version##*/tag/v} ;;
      *) fail version "$TOOL_REPOSITORY has no release" ;;
    esac
  fi
  case $version in
    # It is a part of the cache's folder, so it is no way out of it either.
    [!0-9]* | '' | *[!0-9A-Za-z.-]*) fail version "$TOOL_VERSION is no version, such as 1.2.3, nor latest" ;;
  esac
  {
    echo "version=$version"
    echo "archives=$RUNNER_TOOL_CACHE/$TOOL_KIND/$version/archives"
  } >>"$GITHUB_OUTPUT"
}

install() {
  local folder=$RUNNER_TOOL_CACHE/$TOOL_KIND/$TOOL_VERSION script
  script=$(mktemp)
  curl -q -fsSL --proto =https --retry 3 -o "$script" "$host/releases/download/v$TOOL_VERSION/install.sh" ||
    fail version "there is no release $TOOL_VERSION of $TOOL_REPOSITORY"
  # Pro asks the account service only before features of Pro, and its version is the release's.
  EDITION=pro VERSION=$TOOL_VERSION BINDIR=$folder/bin ARCHIVES=$folder/archives sh "$script" ${flags[@]+"${flags[@]}"} ||
    fail "tool is not installed" "what install.sh says is above"
  rm -f "$script"
  echo "$folder/bin" >>"$GITHUB_PATH"
  "$folder/bin/tool" version
}

case $1 in
  version) find_version ;;
  install) install ;;
esac
