/** The completion of commands in zsh, with their descriptions. */
import { flagsWithValue, type Place, quoted } from './places.ts'

/** The script for zsh: a file of `$fpath`, which can also be sourced. */
export const zshScript = (places: readonly Place[]): string => `#compdef windfall
# Completion of windfall for zsh.
_windfall() {
  local word typed="" beyond="" values="" files=""
  local -a choices options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
  # The longest beginning that is a command; what follows are its arguments.
  while true; do
    case "$typed" in
${places.map(caseOf).join('\n')}
      *" "*) typed="\${typed% *}" beyond=1 ;;
      *) typed="" beyond=1 ;;
    esac
  done
  if [[ " $values " == *" \${words[CURRENT-1]} "* ]]; then _files
  elif [[ "\${words[CURRENT]}" == -* ]]; then _describe -o option options
  elif [[ -z "$beyond" && \${#choices} -gt 0 ]]; then _describe command choices
  elif [[ -n "$files" ]]; then _files
  else _describe -o option options
  fi
}
if [[ "\${funcstack[1]}" == _windfall ]]; then _windfall "$@"; else compdef _windfall windfall; fi
`

function caseOf(place: Place): string {
  const { path, words, options, takesFile } = place
  const lines = [
    `choices=(${words.map(({ name, about }) => described(name, about)).join(' ')})`,
    `options=(${options.map(({ flag, description }) => described(flag, description)).join(' ')})`,
    `values="${flagsWithValue(place).join(' ')}" files="${takesFile ? 1 : ''}"; break ;;`,
  ]
  return `      "${path.join(' ')}")\n${lines.map((line) => `        ${line}`).join('\n')}`
}

const described = (name: string, about: string): string => quoted(about === '' ? name : `${name}:${about}`)
