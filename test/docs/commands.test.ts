/** Each command that the documents name exists, with its options. */
import { expect, test } from 'vitest'
import { findCommand } from '../../src/cli/cli.ts'
import { argumentsError } from '../../src/cli/help/arguments.ts'
import { argumentsOf, isGroup } from '../../src/cli/help/table.ts'
import { type Command, commandsOf, mentionsOf, PAGES } from './snippets.ts'

async function faultIn({ page, line, words: [program, ...argv] }: Command): Promise<string[]> {
  // Every command has --help, and `windfall` has --version; COMMAND stands for any.
  if (program !== 'windfall' || argv[0] === '--version' || argv[0] === 'COMMAND') return []
  const { command, path, commandArgs } = await findCommand(argv)
  // A page may speak of a group, such as `windfall webhooks`.
  const fault = isGroup(command)
    ? commandArgs.length > 0 && `${path.join(' ')} has no command ${commandArgs[0]}`
    : argumentsError(
        commandArgs.filter((word) => word !== '--help'),
        argumentsOf(path.slice(1), command),
      )
  return fault ? [`${page}:${line}: ${fault}`] : []
}

test.each(PAGES)('%s names commands and options that exist', async (page) => {
  const faults = await Promise.all([...commandsOf(page), ...mentionsOf(page)].map(faultIn))
  expect(faults.flat()).toEqual([])
})

test('the pages name commands', () => {
  expect(PAGES.flatMap(commandsOf).length).toBeGreaterThan(60)
})
