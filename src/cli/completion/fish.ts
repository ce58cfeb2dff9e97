/** The completion of commands in fish, with their descriptions. */
import { type Place, quoted } from './places.ts'

/** The script for fish. */
export const fishScript = (places: readonly Place[]): string => `# Completion of windfall for fish.
function __windfall_words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or echo $word
    end
end
# Whether the command line so far has exactly these words.
function __windfall_at
    set -l words (__windfall_words)
    test "$words" = "$argv"
end
# Whether it begins with these words.
function __windfall_in
    set -l words (__windfall_words)
    string match -q -- "$argv *" "$words "
end
complete -c windfall -f
${places.flatMap(linesOf).join('\n')}
`

function linesOf({ path, words, options, isCommand, takesFile }: Place): string[] {
  const complete = (condition: string, rest: string): string =>
    `complete -c windfall -n ${quoted([condition, ...path].join(' '))} ${rest}`
  const within = isCommand ? '__windfall_in' : '__windfall_at'
  return [
    ...words.map(({ name, about }) => complete('__windfall_at', `-a ${name} -d ${quoted(about)}`)),
    ...options.map(({ flag, hint, description }) =>
      complete(within, `-l ${flag.slice(2)}${valueText(hint)} -d ${quoted(description)}`),
    ),
    ...(takesFile ? [complete(within, '-F')] : []),
  ]
}

/** How the value of an option is completed: with files, or not at all. */
function valueText(hint: string | null): string {
  if (hint === null) return ''
  return /FILE|DIR/.test(hint) ? ' -r -F' : ' -x'
}
