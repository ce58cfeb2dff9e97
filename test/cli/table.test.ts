/** Every command has a description, examples that work, and `--json` or a reason against it. */
import { expect, test } from 'vitest'
import { allCommands, findCommand } from '../../src/cli/cli.ts'
import { argumentsError } from '../../src/cli/help/arguments.ts'
import { GROUPS, HELP } from '../../src/cli/help/examples.ts'
import { argumentsOf } from '../../src/cli/help/table.ts'
import { wordsOf } from '../docs/snippets.ts'

const ALL = await allCommands()
const nameOf = ({ words }: { words: string[] }): string => words.join(' ')

test('the help names every command, and no other', () => {
  expect(Object.keys(HELP).sort()).toEqual(ALL.map(nameOf).sort())
  const listed = Object.values(GROUPS).flat()
  expect(listed.toSorted()).toEqual([...new Set(ALL.map(({ words: [first = ''] }) => first))].sort())
})

test.each(ALL.map((leaf) => ({ ...leaf, name: nameOf(leaf) })))('windfall $name', async (leaf) => {
  expect(leaf.description).toMatch(/^[A-Z].{10,}$/)
  for (const [name, { description }] of Object.entries(leaf.args))
    expect([name, description]).toEqual([name, expect.stringMatching(/\S{3}/)])
  const { examples = [], noJson } = HELP[leaf.name] ?? {}
  expect('json' in leaf.args).toBe(noJson === undefined)
  for (const example of examples) {
    const [, ...argv] = wordsOf(example.replace(/ > .*$/, ''))
    const { command, path, commandArgs } = await findCommand(argv)
    expect(path.slice(1)).toEqual(leaf.words)
    expect(argumentsError(commandArgs, argumentsOf(leaf.words, command))).toBeNull()
  }
})
