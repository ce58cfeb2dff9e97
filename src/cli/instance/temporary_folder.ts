/** A folder that lives as long as a piece of work. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Runs `work` with a temporary folder in `above`, and deletes it afterwards, also on SIGINT and SIGTERM. */
export async function inTemporaryFolder<Result>(
  above: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(above, 'windfall-temporary-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const exitOnSignal = (): never => {
    remove()
    process.exit(130)
  }
  process.once('SIGINT', exitOnSignal).once('SIGTERM', exitOnSignal)
  try {
    return await work(folder)
  } finally {
    process.off('SIGINT', exitOnSignal).off('SIGTERM', exitOnSignal)
    remove()
  }
}
