/** The tasks that run in a child process, by name. */
import { setAddonFolder } from './program/addon.ts'
import { VACUUM_CHILD, vacuumCopy } from './store/backup/vacuum_copy.ts'

const CHILDREN: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  [VACUUM_CHILD]: vacuumCopy,
}

/** Runs the task that the arguments of `childCommand` name. @throws Error if there is none. */
export async function runChild([addonFolder = '', name = '', ...args]: readonly string[]): Promise<void> {
  const run = CHILDREN[name]
  if (!run) throw new Error(`unknown child process ${name}`)
  if (addonFolder !== '') setAddonFolder(addonFolder)
  await run(args)
}
