/** The tasks that run in a child process, by name. Each is loaded when it runs. */
import { setAddonFolder } from './program/addon.ts'

const CHILDREN: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  // The name VACUUM_CHILD of src/store/backup/vacuum_copy.ts.
  'vacuum-copy': (args) => import('./store/backup/vacuum_copy.ts').then(({ vacuumCopy }) => vacuumCopy(args)),
  // The name QUERY_CHILD of src/cli/sql/messages.ts.
  sql: (args) => import('./cli/sql/child.ts').then(({ runQuery }) => runQuery(args)),
  // The name EXPORT_CHILD of src/exports/files/sqlite_build.ts.
  export: (args) => import('./exports/files/sqlite_build.ts').then(({ runBuild }) => runBuild(args)),
  // The name UPGRADE_CHILD, which an installed version gives to a later one.
  upgrade: (args) => import('./cli/upgrade/tasks.ts').then(({ runUpgradeTask }) => runUpgradeTask(args)),
}

/** Runs the task that the arguments of `childCommand` name. @throws Error if there is none. */
export async function runChild([addonFolder = '', name = '', ...args]: readonly string[]): Promise<void> {
  const run = CHILDREN[name]
  if (!run) throw new Error(`unknown child process ${name}`)
  if (addonFolder !== '') setAddonFolder(addonFolder)
  await run(args)
}
