/** Starts this program again as a child process, in each form of the program. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addonFile } from './addon.ts'
import { bundleFolder, form } from './form.ts'

/** The first argument of a child process. It is not a command for users. */
export const CHILD_FLAG = '--child'

/**
 * The file and the arguments that run the task `name` of src/children.ts in a process of its own. It uses the addon of
 * this process, because it reads no configuration.
 */
export function childCommand(name: string, args: readonly string[]): [file: string, args: string[]] {
  const addon = addonFile()
  const own = [CHILD_FLAG, addon === null ? '' : dirname(addon), name, ...args]
  if (form === 'executable') return [process.execPath, own]
  const entry =
    bundleFolder === null
      ? fileURLToPath(new URL('../main.ts', import.meta.url))
      : join(bundleFolder, 'windfall.mjs')
  return [process.execPath, [entry, ...own]]
}
