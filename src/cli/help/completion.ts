/** The command `windfall completion`: scripts that complete commands and options in a shell. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import type { Leaf } from './table.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** What `runCli` hands over to a command. */
type CompletionData = { allCommands: () => Promise<Leaf[]> }

export const completionCommand = defineCommand({
  meta: {
    name: 'completion',
    description: 'Print a script that completes commands and options in your shell',
  },
  args: { shell: { type: 'positional', required: true, description: `The shell: ${SHELLS.join(', ')}` } },
  async run({ args, data }) {
    const shell = SHELLS.find((name) => name === args.shell)
    if (!shell)
      throw new Refusal(
        400,
        'invalid_request',
        `there is no completion for ${args.shell}; choose ${SHELLS.join(', ')}`,
      )
    // The table of commands contains this one, so it is handed over.
    const { allCommands } = data as CompletionData
    process.stdout.write(SCRIPTS[shell](await allCommands()))
  },
})

/** The words that may follow each beginning of a command line, such as `apps` → `add list`. */
function wordsByPath(leaves: readonly Leaf[]): Map<string, Set<string>> {
  const words = new Map<string, Set<string>>()
  const add = (path: string, word: string): void => {
    words.set(path, (words.get(path) ?? new Set()).add(word))
  }
  for (const { words: path, args } of leaves) {
    path.forEach((word, depth) => void add(path.slice(0, depth).join(' '), word))
    for (const [name, { type }] of Object.entries(args))
      if (type !== 'positional') add(path.join(' '), `--${name}`)
    add(path.join(' '), '--help')
  }
  return words
}

/** A `case` of POSIX shells that sets `choices` to what may follow `typed`. */
const casesOf = (leaves: readonly Leaf[]): string =>
  [...wordsByPath(leaves)]
    .map(([path, words]) => `      "${path}") choices="${[...words].join(' ')}" ;;`)
    .join('\n')

/** Sets `choices` from `typed`, the words before the cursor without options; arguments of a command are skipped. */
const choosing = (leaves: readonly Leaf[]): string => `  while :; do
    case "$typed" in
${casesOf(leaves)}
    esac
    if [ -n "$choices" ] || [ -z "$typed" ]; then break; fi
    case "$typed" in *" "*) typed="\${typed% *}" ;; *) typed="" ;; esac
  done`

const bash = (leaves: readonly Leaf[]): string => `# Completion of windfall for bash.
_windfall() {
  local word typed="" choices=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${choosing(leaves)}
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -F _windfall windfall
`

const zsh = (leaves: readonly Leaf[]): string => `#compdef windfall
# Completion of windfall for zsh.
_windfall() {
  local word typed="" choices=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${choosing(leaves)}
  if [ -n "$choices" ]; then compadd -- \${=choices}; else _files; fi
}
compdef _windfall windfall
`

function fish(leaves: readonly Leaf[]): string {
  const lines = ['# Completion of windfall for fish.', 'complete -c windfall -f']
  const seen = new Set<string>()
  for (const { words, description, args } of leaves) {
    words.forEach((word, depth) => {
      const above = words.slice(0, depth)
      const key = [...above, word].join(' ')
      if (seen.has(key)) return
      seen.add(key)
      const siblings = [
        ...new Set(
          leaves.flatMap(({ words: other }) => (startsWith(other, above) ? (other[depth] ?? []) : [])),
        ),
      ]
      const condition = [
        ...above.map((one) => `__fish_seen_subcommand_from ${one}`),
        `not __fish_seen_subcommand_from ${siblings.join(' ')}`,
      ].join('; and ')
      const text = depth === words.length - 1 ? ` -d ${quoted(description)}` : ''
      lines.push(`complete -c windfall -n "${condition}" -a ${word}${text}`)
    })
    const condition = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    for (const [name, { type, description: about = '' }] of Object.entries(args))
      if (type !== 'positional')
        lines.push(`complete -c windfall -n "${condition}" -l ${name} -d ${quoted(about)}`)
  }
  return `${lines.join('\n')}\n`
}

const startsWith = (words: readonly string[], above: readonly string[]): boolean =>
  above.every((word, index) => words[index] === word)

const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`

const SCRIPTS: Record<Shell, (leaves: readonly Leaf[]) => string> = { bash, zsh, fish }
