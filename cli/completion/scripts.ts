/**
 * The completion scripts. Each asks `tool completion <shell> --line` for the candidates at the cursor, so that a script
 * never gets outdated and knows the current tool.json. The answer `:files` or `:directories` leaves it to the shell.
 */
export const SCRIPTS = {
  bash: `# tool in bash: put  source <(tool completion bash)  into ~/.bashrc
_tool_complete() {
  local IFS=$'\\n' answer
  answer=($("$1" completion bash --line "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  case "\${answer[0]-}" in
    :files) COMPREPLY=($(compgen -f -- "$2")); compopt -o filenames 2>/dev/null ;;
    :directories) COMPREPLY=($(compgen -d -- "$2")); compopt -o filenames 2>/dev/null ;;
    *) COMPREPLY=("\${answer[@]}") ;;
  esac
}
complete -F _tool_complete tool
`,
  zsh: `#compdef tool
# tool in zsh: put  source <(tool completion zsh)  into ~/.zshrc after compinit, or this text into a file _tool in $fpath
_tool() {
  local -a answer
  answer=("\${(@f)$("\${words[1]}" completion zsh --line "\${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}")
  case "\${answer[1]}" in
    '') ;;
    :files) compset -P '*='; _files ;;
    :directories) compset -P '*='; _files -/ ;;
    *) _describe tool answer ;;
  esac
}
if [ "\${funcstack[1]}" = _tool ]; then _tool "$@"; else compdef _tool tool; fi
`,
  fish: `# tool in fish: put this text into ~/.config/fish/completions/tool.fish
function __tool_complete
  set -l before (commandline -opc)
  set -l typed (commandline -ct)
  set -l answer ($before[1] completion fish --line (commandline -cp | string collect) 2>/dev/null)
  set -l begun (string match -r -- '^--[a-z-]+=' "$typed")
  set -l path (string replace -- "$begun" '' "$typed")
  switch "$answer[1]"
    case :files
      printf "$begun%s\\n" (__fish_complete_path "$path")
    case :directories
      printf "$begun%s\\n" (__fish_complete_directories "$path")
    case '*'
      printf '%s\\n' $answer
  end
end
complete -c tool -f -a '(__tool_complete)'
`,
} as const;

export type Shell = keyof typeof SCRIPTS;
