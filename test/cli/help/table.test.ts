/** Every command has a description, a paragraph, examples that work, and `--json` or a reason against it. */
import { expect, test } from 'vitest'
import { allCommands, findCommand } from '../../../src/cli/cli.ts'
import { ABOUT } from '../../../src/cli/help/about.ts'
import { argumentsError } from '../../../src/cli/help/arguments.ts'
import { GROUPS, HELP } from '../../../src/cli/help/examples.ts'
import { helpText } from '../../../src/cli/help/help.ts'
import { optionsOf, optionText, positionalsOf } from '../../../src/cli/help/options.ts'
import { argumentsOf } from '../../../src/cli/help/table.ts'
import { wordsOf } from '../../docs/snippets.ts'
import { nonEmpty } from '../../non_empty.ts'

const ALL = await allCommands()
const nameOf = ({ words }: { words: string[] }): string => words.join(' ')

test('the help names every command, and no other', () => {
  const names = nonEmpty(ALL).map(nameOf).sort()
  expect(Object.keys(HELP).sort()).toEqual(names)
  expect(Object.keys(ABOUT).sort()).toEqual(names)
  const listed = Object.values(GROUPS).flat()
  expect(listed.toSorted()).toEqual([...new Set(ALL.map(({ words: [first = ''] }) => first))].sort())
})

test.each(ALL.map((leaf) => ({ ...leaf, name: nameOf(leaf) })))('windfall $name', async (leaf) => {
  expect(leaf.description).toMatch(/^[A-Z][^\n]{10,94}[^.]$/)
  expect(ABOUT[leaf.name]).toMatch(/^[A-Z][^\n]{30,}\.$/)
  for (const [name, { description }] of Object.entries(leaf.args))
    expect([name, description]).toEqual([name, expect.stringMatching(/\S{3}/)])
  const { examples = [], noJson } = HELP[leaf.name] ?? {}
  expect('json' in leaf.args).toBe(noJson === undefined)
  if (noJson !== undefined) expect(noJson).toMatch(/^[A-Z].{10,}\.$/)
  expect(new Set(examples).size).toBeGreaterThan(1)
  for (const example of examples as readonly string[]) {
    const [, ...argv] = wordsOf(example.replace(/ [<>] .*$/, ''))
    const { command, path, commandArgs } = await findCommand(argv)
    expect(path.slice(1)).toEqual(leaf.words)
    expect(argumentsError(commandArgs, argumentsOf(leaf.words, command))).toBeNull()
  }
})

test('the help of a command has its paragraph, arguments, options, examples and exit codes', async () => {
  for (const { words, description, args } of nonEmpty(ALL)) {
    const { command } = await findCommand(words)
    const help = await helpText(command, words, 60)
    const text = help.replaceAll(/\s+/g, ' ')
    const name = words.join(' ')
    const parts = [`${description}. ${ABOUT[name]} USAGE windfall ${name}`, ' EXIT CODES 0 ', ' 2 ']
    const rows = [...positionalsOf(args).map((one) => one.name), ...optionsOf(args).map(optionText)]
    const examples = HELP[name]?.examples as readonly string[]
    for (const part of [...parts, ...rows, ...examples]) expect(text).toContain(part)
    for (const line of help.split('\n').slice(1))
      if (!/^ {2}windfall |^USAGE/.test(line)) expect(line).toMatch(/^.{0,75}$/)
  }
})

test('the list of commands is grouped', async () => {
  const { command } = await findCommand([])
  const list = await helpText(command, [])
  for (const title of Object.keys(GROUPS)) expect(list).toContain(`\n${title.toUpperCase()}\n  `)
  for (const { words } of nonEmpty(ALL)) expect(list).toMatch(new RegExp(`^  ${words[0]} +[A-Z]`, 'm'))
})
