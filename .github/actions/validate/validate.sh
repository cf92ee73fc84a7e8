#!/usr/bin/env bash
# The step of the action beside it. Inputs come as variables, so that nothing of them is read as a part of this script.
set -euo pipefail
if ! command -v tool >/dev/null; then
  echo "::error title=tool is not installed::add a step before this one with the action setup, which is beside this one"
  exit 1
fi
flags=()
case $TOOL_STRICT in
  true) flags+=(--strict) ;;
  false) ;;
  *)
    echo "::error title=strict::strict is true or false"
    exit 2
    ;;
esac
# Words of a list without file names for the * of query/*.
set -f
for rule in $TOOL_IGNORE; do flags+=(--ignore "$rule"); done
set +f
# First, so that the report is there for the next step when problems end this one.
if [ -n "$TOOL_SARIF" ]; then
  # By itself, as a redirection that fails ends with 1, too, as a check with problems does.
  : >"$TOOL_SARIF" || {
    echo "::error title=sarif::the report cannot be written: make its folder in a step before this one"
    exit 1
  }
  tool validate ${flags[@]+"${flags[@]}"} --format sarif -- "$TOOL_PATH" >"$TOOL_SARIF" || [ $? -eq 1 ]
fi
tool validate ${flags[@]+"${flags[@]}"} --format github -- "$TOOL_PATH"
