/** Every command of the documents runs, in the order of its page, against a seeded instance. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { nonEmpty } from '../../non_empty.ts'
import { blocksOf, PAGES } from '../snippets.ts'
import { EXCEPTIONS, OTHERS, RUNNABLE } from './exceptions.ts'
import { type Instance, openInstance } from './instance.ts'
import { filled } from './placeholders.ts'
import { prepare } from './preparations.ts'
import { runCommand } from './shell.ts'
import { fileNames, plainLinesOf, type Step, stepsOf } from './steps.ts'

const PAGE_STEPS = [...stepsOf(PAGES)].filter(([, steps]) => steps.length > 0)
const exceptionOf = ({ text }: Step) => EXCEPTIONS.find(({ command }) => command.test(text))
const runsHere = (step: Step): boolean => exceptionOf(step) === undefined && RUNNABLE.test(step.text)

describe('the commands of the documents', () => {
  let instance: Instance
  beforeAll(async () => {
    instance = await openInstance()
  })

  test.each(PAGE_STEPS)('%s: its commands succeed', { timeout: 120_000 }, async (page, steps) => {
    const folder = join(instance.folder, 'pages', page)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const place = { folder, instance }
    const faults: string[] = []
    for (const step of steps.filter(runsHere)) {
      const command = await filled(step.text, place)
      await prepare(command, place)
      const fault = await runCommand(command, place)
      if (fault !== null) faults.push(`${page}:${step.line}: ${step.text}\n${command}\n${fault}`)
    }
    expect(faults).toEqual([])
  })
})

test('each command runs here or is an exception', () => {
  const unknown = PAGE_STEPS.flatMap(([, steps]) => steps)
    .filter((step) => exceptionOf(step) === undefined && !runsHere(step))
    .map(({ page, line, text }) => `${page}:${line}: ${text}`)
  expect(unknown).toEqual([])
})

test('no block without a language has a command', () => {
  const hidden = nonEmpty(PAGES).flatMap((page) =>
    plainLinesOf(page).filter(({ text }) => RUNNABLE.test(text) || /^(?:npm|npx|node) /.test(text)),
  )
  expect(hidden).toEqual([])
})

test.each(EXCEPTIONS)('$command is excepted for a reason', ({ command, because, suite }) => {
  const steps = PAGE_STEPS.flatMap(([, all]) => all)
  nonEmpty(steps.filter(({ text }) => command.test(text)))
  expect(because).toMatch(/^[A-Z].+\.$/)
  if (suite !== undefined) expect([...suite, fileNames(...suite)]).toEqual([...suite, true])
})

/** What a reader does not enter anywhere, or what is run by itself. */
const RUN_BY_ITSELF = ['toml', 'csv', 'sql', 'sh', 'bash', 'console', 'shell']
const SHOWN = ['json', 'text']

test('configuration of other programs and code run in another suite', () => {
  const blocks = nonEmpty(PAGES.flatMap(blocksOf)).filter(
    ({ language }) => ![...RUN_BY_ITSELF, ...SHOWN].includes(language),
  )
  const isListed = (block: { page: string; language: string }): boolean =>
    OTHERS.some(({ page, language }) => page === block.page && language === block.language)
  expect(blocks.filter((block) => !isListed(block)).map(({ page, line }) => `${page}:${line}`)).toEqual([])
  for (const { page, language, suite } of OTHERS) {
    nonEmpty(blocks.filter((block) => block.page === page && block.language === language))
    expect([...suite, fileNames(...suite)]).toEqual([...suite, true])
  }
})
