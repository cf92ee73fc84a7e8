/**
 * Starts the command with the Node beside it, by its path or through symbolic links. `readlink` is in coreutils, BusyBox, macOS
 * and POSIX.1-2024.
 */
export const LAUNCHER = `#!/bin/sh
self=$0
case $self in */*) ;; *) self=./$self ;; esac
while [ -L "$self" ]; do
  target=$(readlink "$self") || exit
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
top=\${self%/*}/..
exec "$top/node/bin/node" "$top/lib/cli.cjs" "$@"
`;

/** The same on Windows. */
export const WINDOWS_LAUNCHER = ["@echo off", '"%~dp0..\\node\\node.exe" "%~dp0..\\lib\\cli.cjs" %*', ""].join("\r\n");
