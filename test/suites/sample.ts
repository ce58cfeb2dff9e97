/** A suite of one small file, for tests of what runs suites. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf } from '../processes.ts'

const VITEST = new URL('../../node_modules/vitest/dist/index.js', import.meta.url).href

/** Makes a folder with one test file of this text, in which `tries` is the number of the run, from 1. */
export function sampleOf(suite: string, text: string) {
  const root = folderOf()
  const file = suite === 'faults' ? 'test/sample.fault.ts' : `test/${suite}/sample.test.ts`
  const runs = join(root, 'runs')
  mkdirSync(join(root, file, '..'), { recursive: true })
  writeFileSync(
    join(root, file),
    `import { appendFileSync, readFileSync } from 'node:fs'
    import { afterAll, beforeAll, describe, expect, test } from ${JSON.stringify(VITEST)}
    appendFileSync(${JSON.stringify(runs)}, 'x')
    const tries = readFileSync(${JSON.stringify(runs)}, 'utf8').length
    ${text}`,
  )
  return { root, file, tries: () => readFileSync(runs, 'utf8').length }
}

/** Runs a script with `imported` from a module beside this one, as its own process. */
export function runScript(
  module: string,
  imported: string,
  script: string,
  env: Record<string, string> = {},
) {
  const url = new URL(module, import.meta.url).href
  const text = `const { ${imported} } = await import(${JSON.stringify(url)})\n${script}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
}
