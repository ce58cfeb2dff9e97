/** The completion of commands in bash. */
import { flagsWithValue, type Place } from './places.ts'

/**
 * The script for bash. Where it offers nothing, bash offers files: for the value of an option and for arguments. Works
 * with bash 3.2 of macOS.
 */
export const bashScript = (places: readonly Place[]): string => `# Completion of windfall for bash.
_windfall() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local word typed="" beyond="" words="" options="" values="" files=""
  if [ "$previous" = "=" ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
  # The longest beginning that is a command; what follows are its arguments.
  while :; do
    case "$typed" in
${places.map(caseOf).join('\n')}
      *" "*) typed="\${typed% *}" beyond=1 ;;
      *) typed="" beyond=1 ;;
    esac
  done
  COMPREPLY=()
  case " $values " in *" $previous "*) return ;; esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *)
      if [ -z "$beyond" ] && [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
      elif [ -z "$files" ]; then COMPREPLY=($(compgen -W "$options" -- "$current")); fi ;;
  esac
}
complete -o default -F _windfall windfall
`

function caseOf(place: Place): string {
  const { path, words, options, takesFile } = place
  const assignments = [
    `words="${words.map(({ name }) => name).join(' ')}"`,
    `options="${options.map(({ flag }) => flag).join(' ')}"`,
    `values="${flagsWithValue(place).join(' ')}"`,
    `files="${takesFile ? 1 : ''}"`,
  ]
  return `      "${path.join(' ')}") ${assignments.join(' ')}; break ;;`
}
