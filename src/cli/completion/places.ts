/** What can follow the words of a command line, for the completion of any shell. */
import { optionsOf, positionalsOf } from '../help/options.ts'
import type { Entry } from '../help/table.ts'

type Choice = { name: string; about: string }
/**
 * The place after the words `path`. `words` are the commands or the values of an argument; `isCommand` tells whether
 * more words can follow, such as the arguments of a command. `takesFile`: whether an argument is a file.
 */
export type Place = {
  path: readonly string[]
  words: readonly Choice[]
  options: readonly Option[]
  isCommand: boolean
  takesFile: boolean
}
type Option = ReturnType<typeof optionsOf>[number]

const VERSION: Option = { flag: '--version', hint: null, description: 'Show the version' }

/** Every place of the commands: after `windfall`, after each group and after each command. */
export function placesOf(entries: readonly Entry[]): Place[] {
  const root = { words: [], description: '', args: {}, defaultName: null, isGroup: true }
  return [root, ...entries].map((entry) => placeOf(entry, entries))
}

function placeOf({ words: path, args, isGroup, defaultName }: Entry, entries: readonly Entry[]): Place {
  const children = entries.filter(({ words }) => isBelow(words, path))
  const commands = children.map(({ words, description }) => ({
    name: words.at(-1) ?? '',
    about: description,
  }))
  if (!isGroup) {
    const positionals = positionalsOf(args)
    const values = positionals.flatMap(({ choices }) => choices.map((name) => ({ name, about: '' })))
    const words = [...commands, ...values]
    const takesFile = positionals.some(({ isFile }) => isFile)
    return { path, words, options: optionsOf(args), isCommand: true, takesFile }
  }
  const byDefault = children.find(({ words }) => words.at(-1) === defaultName)
  const options = optionsOf(byDefault?.args ?? {})
  return {
    path,
    words: commands,
    options: path.length === 0 ? [...options, VERSION] : options,
    isCommand: false,
    takesFile: false,
  }
}

const isBelow = (words: readonly string[], path: readonly string[]): boolean =>
  words.length === path.length + 1 && path.every((word, index) => words[index] === word)

/** The flags of the options that take a value. */
export const flagsWithValue = ({ options }: Place): string[] =>
  options.flatMap(({ flag, hint }) => (hint === null ? [] : [flag]))

/** A text in single quotes, for any of the shells. */
export const quoted = (text: string): string => `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`
