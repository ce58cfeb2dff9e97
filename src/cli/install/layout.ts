/** Where `windfall install` puts what, and the steps that bring a file or a folder into its state. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../errors.ts'
import { INSTALLED_FOLDER } from '../../program/addon.ts'
import { form } from '../../program/form.ts'
import { copyFileDurably, writeFileDurably } from '../../store/disk/durable_files.ts'
import { statsAt } from '../../store/disk/paths.ts'
import { unitFile } from '../../systemd/unit.ts'

const PROGRAM = '/usr/local/bin/windfall'
const CONFIG_FOLDER = '/etc/windfall'
/** The folder of the database and the backups, as the config file names it. */
export const DATA_FOLDER = '/var/lib/windfall'

/** The files of an installation below `root`. */
export const layoutAt = (root: string) => ({
  program: join(root, PROGRAM),
  configFolder: join(root, CONFIG_FOLDER),
  config: join(root, CONFIG_FOLDER, 'config.toml'),
  data: join(root, DATA_FOLDER),
  addons: join(root, INSTALLED_FOLDER),
  unit: unitFile(root),
})

/** The config file that `windfall install` wrote, for the executable that it installed; null for any other program. */
export function installedConfig(): string | null {
  if (form !== 'executable' || dirname(process.execPath) !== dirname(PROGRAM)) return null
  const { config } = layoutAt('/')
  return basename(process.execPath).startsWith('windfall') && existsSync(config) ? config : null
}

/** What a step did. */
export type Outcome = 'created' | 'updated' | 'unchanged'

/** The owner and the mode of a file. */
type Permissions = { mode: number; owner: { uid: number; gid: number } }

/** Creates a folder, or corrects its owner and mode. @throws Refusal 409 `not_a_folder` */
export function ensureFolder(path: string, permissions: Permissions): Outcome {
  const stats = statsAt(path)
  if (stats !== null && !statSync(path).isDirectory())
    throw new Refusal(409, 'not_a_folder', `${path} exists and is not a folder; move it away`)
  if (stats === null) {
    makeParents(path)
    mkdirSync(path, { mode: permissions.mode })
  }
  const isChanged = applyPermissions(path, permissions)
  return stats === null ? 'created' : isChanged ? 'updated' : 'unchanged'
}

/** Creates the folders above `path` that do not exist, so that every user can enter them, whatever the umask is. */
export function makeParents(path: string): void {
  const folder = dirname(path)
  if (existsSync(folder)) return
  makeParents(folder)
  mkdirSync(folder)
  chmodSync(folder, 0o755)
}

/** Writes `text` to `path` atomically, unless that is its content. */
export function ensureText(path: string, text: string, permissions: Permissions): Outcome {
  const isPresent = existsSync(path)
  const isSame = isPresent && readFileSync(path, 'utf8') === text
  if (!isSame) writeFileDurably(path, text, permissions.mode)
  const isChanged = applyPermissions(path, permissions)
  return isSame && !isChanged ? 'unchanged' : isPresent ? 'updated' : 'created'
}

/** Copies `source` to `path` atomically, unless both have the same content. */
export function ensureCopy(path: string, source: string, permissions: Permissions): Outcome {
  const isPresent = existsSync(path)
  const isSame = isPresent && hasSameContent(path, source)
  if (!isSame) copyFileDurably(source, path, permissions.mode)
  const isChanged = applyPermissions(path, permissions)
  return isSame && !isChanged ? 'unchanged' : isPresent ? 'updated' : 'created'
}

/** Whether two files have the same content. */
export const hasSameContent = (one: string, other: string): boolean =>
  statSync(one).size === statSync(other).size && readFileSync(one).equals(readFileSync(other))

function applyPermissions(path: string, { mode, owner }: Permissions): boolean {
  const stats = statSync(path)
  const hasMode = (stats.mode & 0o7777) === mode
  const hasOwner = stats.uid === owner.uid && stats.gid === owner.gid
  if (!hasOwner) chownSync(path, owner.uid, owner.gid)
  // A change of the owner can clear bits of the mode.
  if (!hasMode || !hasOwner) chmodSync(path, mode)
  return !hasMode || !hasOwner
}
