/** The reference of commands in docs/cli.md. */
import { allCommands } from '../../src/cli/cli.ts'
import { ABOUT } from '../../src/cli/help/about.ts'
import { EXIT_CODES, GROUPS, HELP } from '../../src/cli/help/examples.ts'
import { optionsOf, optionText, positionalsOf, usageOf } from '../../src/cli/help/options.ts'
import type { Entry } from '../../src/cli/help/table.ts'

/** The text of the reference: the exit codes, an index, then every command by group. */
export async function cliReference(): Promise<string> {
  const leaves = await allCommands()
  const groups = Object.entries(GROUPS).map(([title, names]): [string, Entry[]] => [
    title,
    leaves.filter(({ words: [first = ''] }) => names.includes(first)),
  ])
  return [
    table('exit code', 'meaning', Object.entries(EXIT_CODES)),
    'A command whose codes mean more says so below.',
    '## All commands',
    table(
      'command',
      '',
      groups.flatMap(([, members]) => members.map(indexRow)),
    ),
    ...groups.flatMap(([title, members]) => [`## ${title}`, ...members.map(sectionOf)]),
  ].join('\n\n')
}

const indexRow = ({ words, description }: Entry): [string, string] => [
  `[\`${words.join(' ')}\`](#windfall-${words.join('-')})`,
  description,
]

const table = (first: string, second: string, rows: readonly (readonly [string, string])[]): string =>
  [
    `| ${first} | ${second} |`,
    '|---|---|',
    ...rows.map(([label, text]) => `| ${cell(label)} | ${cell(text)} |`),
  ].join('\n')

function sectionOf({ words, description, args }: Entry): string {
  const name = words.join(' ')
  const { examples = [], exits, noJson } = HELP[name] ?? {}
  const rows = [
    ...positionalsOf(args).map((one): [string, string] => [
      `\`${one.name}\``,
      `${one.description}${one.required ? '' : ' (optional)'}`,
    ]),
    ...optionsOf(args)
      .filter(({ flag }) => flag !== '--help')
      .map((one): [string, string] => [`\`${optionText(one)}\``, one.description]),
  ]
  return [
    `### windfall ${name}`,
    `**${description}.** ${ABOUT[name] ?? ''}`,
    ['```text', usageOf(words, args), '```'].join('\n'),
    ['```sh', ...examples, '```'].join('\n'),
    ...(rows.length > 0 ? [table('argument or option', '', rows)] : []),
    ...(exits ? [exitText(exits)] : []),
    ...(noJson ? [`There is no \`--json\`: ${noJson}`] : []),
  ].join('\n\n')
}

const exitText = (exits: Readonly<Record<number, string>>): string =>
  `Exit codes: ${Object.entries(exits)
    .map(([code, text]) => `${code}: ${text}`)
    .join('. ')}.`

const cell = (text: string): string => text.replaceAll('|', '\\|')
