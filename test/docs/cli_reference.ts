/** The reference of commands in docs/cli.md. */
import { allCommands } from '../../src/cli/cli.ts'
import { EXIT_CODES, GROUPS, HELP } from '../../src/cli/help/examples.ts'
import { argumentText } from '../../src/cli/help/help.ts'
import type { Leaf } from '../../src/cli/help/table.ts'

/** The text of the reference: the exit codes, then every command by group. */
export async function cliReference(): Promise<string> {
  const leaves = await allCommands()
  const groups = Object.entries(GROUPS).map(([title, names]) =>
    [`## ${title}`, ...leaves.filter(({ words: [first = ''] }) => names.includes(first)).map(sectionOf)].join(
      '\n\n',
    ),
  )
  return [exitTable(EXIT_CODES), ...groups].join('\n\n')
}

const exitTable = (exits: Readonly<Record<number, string>>): string =>
  [
    '| exit code | meaning |',
    '|---|---|',
    ...Object.entries(exits).map(([code, text]) => `| ${code} | ${text} |`),
  ].join('\n')

function sectionOf({ words, description, args }: Leaf): string {
  const name = words.join(' ')
  const { examples = [], exits, noJson } = HELP[name] ?? {}
  const rows = Object.entries(args).map(
    ([key, argument]) => `| \`${argumentText(key, argument)}\` | ${cell(argument.description ?? '')} |`,
  )
  return [
    `### windfall ${name}`,
    `${description}.`,
    ['```sh', ...examples, '```'].join('\n'),
    ...(rows.length > 0 ? [['| option | |', '|---|---|', ...rows].join('\n')] : []),
    ...(exits
      ? [
          `Exit codes: ${Object.entries(exits)
            .map(([code, text]) => `${code} ${text.toLowerCase()}`)
            .join('; ')}.`,
        ]
      : []),
    ...(noJson ? [`No \`--json\`: ${noJson}`] : []),
  ].join('\n\n')
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
