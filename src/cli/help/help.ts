/** The help texts of commands. */
import { ABOUT } from './about.ts'
import { EXIT_CODES, GROUPS, HELP } from './examples.ts'
import { optionsOf, optionText, positionalsOf, usageOf } from './options.ts'
import {
  type AnyCommand,
  argumentsOf,
  type CommandTable,
  commandIn,
  descriptionOf,
  isGroup,
} from './table.ts'

/** The width of a text, unless the terminal is narrower. */
const MAX_WIDTH = 100
const MIN_WIDTH = 40

/**
 * The help of the command with these words (without `windfall`), or the list of all commands.
 *
 * @param columns the width of the terminal; undefined without one
 */
export async function helpText(
  command: AnyCommand,
  words: readonly string[],
  columns: number = MAX_WIDTH,
): Promise<string> {
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns))
  if (words.length === 0) return listOf(command, width)
  if (isGroup(command)) return groupHelp(command, words, width)
  return leafHelp(command, words, width)
}

async function leafHelp(command: AnyCommand, words: readonly string[], width: number): Promise<string> {
  const table = (command.subCommands ?? {}) as CommandTable
  const name = words.join(' ')
  const args = argumentsOf(words, command)
  const positionals = positionalsOf(args)
  const { examples = [], exits, noJson } = HELP[name] ?? {}
  return sections([
    `${descriptionOf(command)}.`,
    wrapped(ABOUT[name] ?? '', width).join('\n'),
    `USAGE ${usageOf(words, args)}`,
    list(
      'ARGUMENTS',
      positionals.map((one) => [one.name, argumentAbout(one)]),
      width,
    ),
    list(
      'OPTIONS',
      optionsOf(args).map((one) => [optionText(one), one.description]),
      width,
    ),
    list('COMMANDS', await describe(table, Object.keys(table)), width),
    noJson === undefined ? '' : wrapped(`There is no --json: ${noJson}`, width).join('\n'),
    ['EXAMPLES', ...examples.map((line) => `  ${line}`)].join('\n'),
    list('EXIT CODES', Object.entries({ ...EXIT_CODES, ...exits }), width),
  ])
}

const argumentAbout = ({ required, description }: ReturnType<typeof positionalsOf>[number]): string =>
  required ? description : `${description} (optional)`

async function groupHelp(command: AnyCommand, words: readonly string[], width: number): Promise<string> {
  const name = ['windfall', ...words].join(' ')
  const table = command.subCommands as CommandTable
  const byDefault = command.default === undefined ? '' : ` Without one: ${command.default as string}.`
  return sections([
    `${descriptionOf(command)}.`,
    `USAGE ${name} COMMAND`,
    list('COMMANDS', await describe(table, Object.keys(table)), width),
    `${name} COMMAND --help shows arguments, options, examples and exit codes.${byDefault}`,
  ])
}

async function listOf(command: AnyCommand, width: number): Promise<string> {
  const table = command.subCommands as CommandTable
  const labelWidth = Math.max(...Object.keys(table).map((name) => name.length))
  const groups = Object.entries(GROUPS).map(async ([title, names]) =>
    list(title.toUpperCase(), await describe(table, names), width, labelWidth),
  )
  return sections([
    `${descriptionOf(command)}.`,
    'USAGE windfall COMMAND',
    ...(await Promise.all(groups)),
    'windfall COMMAND --help shows arguments, options, examples and exit codes.\nwindfall --version shows the version.',
  ])
}

const describe = (table: CommandTable, names: readonly string[]): Promise<[string, string][]> =>
  Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const command = await commandIn(table, name)
      return [name, command === null ? '' : descriptionOf(command)]
    }),
  )

/** The parts that are not empty, with an empty line between two. */
const sections = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

/** A label that is wider than this has its text on the next line. */
const MAX_LABEL_WIDTH = 30

/** A title with labels and their texts in two columns; empty without rows. */
function list(
  title: string,
  rows: readonly (readonly [string, string])[],
  width: number,
  labelWidth = widestOf(rows),
): string {
  if (rows.length === 0) return ''
  const indent = ' '.repeat(labelWidth + 4)
  const lines = rows.flatMap(([label, text]) => {
    const [first = '', ...others] = wrapped(text, width - indent.length)
    const rest = others.map((line) => `${indent}${line}`)
    if (label.length > labelWidth) return [`  ${label}`, `${indent}${first}`, ...rest]
    return [`  ${label.padEnd(labelWidth)}  ${first}`, ...rest]
  })
  return [title, ...lines].join('\n')
}

const widestOf = (rows: readonly (readonly [string, string])[]): number =>
  Math.max(0, ...rows.map(([label]) => label.length).filter((length) => length <= MAX_LABEL_WIDTH))

/** A text in lines of at most `width` characters; a longer word has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
