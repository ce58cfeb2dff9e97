/** The tasks that run in a child process, by name. */
import { VACUUM_CHILD, vacuumCopy } from './store/backup/vacuum_copy.ts'

const CHILDREN: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  [VACUUM_CHILD]: vacuumCopy,
}

/** Runs the task `name`. @throws Error if there is none. */
export async function runChild([name = '', ...args]: readonly string[]): Promise<void> {
  const run = CHILDREN[name]
  if (!run) throw new Error(`unknown child process ${name}`)
  await run(args)
}
