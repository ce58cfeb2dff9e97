/** Runs Vitest with the configuration of the tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readReport } from './failures.ts'
import type { Run } from './repeats.ts'

/** The top of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Runs these files of the suite, or all of them, in a process of their own. `root` has the folder `test`. */
export function runVitest(
  suite: string,
  args: readonly string[],
  { root = ROOT, isQuiet = false }: { root?: string; isQuiet?: boolean } = {},
): Run {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-run-'))
  const path = join(folder, 'failures.json')
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const config = join(ROOT, 'test/vitest.config.ts')
  const env = { ...process.env, WINDFALL_SUITE: suite, WINDFALL_FAILURES: path }
  try {
    const { status } = spawnSync(
      process.execPath,
      [vitest, 'run', '--config', config, '--root', root, ...args],
      { cwd: ROOT, stdio: isQuiet ? 'ignore' : 'inherit', env },
    )
    return { isGreen: status === 0, report: readReport(path) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
