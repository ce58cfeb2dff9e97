/** Compares every path of the configuration with what the systemd unit and its user may read and write. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { LoadedConfig } from '../config/load.ts'
import { backupSources } from '../config/sources/backup_sources.ts'
import { INSTALLED_FOLDER } from '../program/addon.ts'
import { realPathOf, textAt } from '../store/disk/paths.ts'
import { readUnit, UNIT_NAME, type Unit } from './unit.ts'

/** A path that the server needs, and the setting that names it. */
type PathUse = { setting: string; path: string; use: 'read' | 'write' }

/** What the server cannot do with a path, and how to permit it. */
type AccessProblem = { setting: string; problem: string; advice: string }

/**
 * Why the installed unit cannot serve with this configuration: one problem for each path. Empty if no unit is installed,
 * or if it serves another configuration.
 */
export function accessProblems(loaded: LoadedConfig, root = '/'): AccessProblem[] {
  const unit = readUnit(root)
  if (unit === null || loaded.file === null || unit.config === null) return []
  if (realPath(join(root, unit.config)) !== realPath(loaded.file)) return []
  const user = userNamed(unit.user, root)
  return usesOf(loaded).flatMap(({ setting, path, use }) => {
    const seen = { path: insideRoot(path, root), use }
    const found = unitProblem(seen, unit) ?? (user === null ? null : userProblem(seen, user, root))
    return found === null ? [] : [{ setting, ...found }]
  })
}

/** The path as a system sees it whose root folder is `root`. */
const insideRoot = (path: string, root: string): string =>
  root !== '/' && isWithin(path, root) ? path.slice(root.length) || '/' : path

function usesOf(loaded: LoadedConfig): PathUse[] {
  const { config, locationByPath, sourceKindByPath } = loaded
  const { config: configFile } = backupSources(loaded)
  const secrets = [...sourceKindByPath].flatMap(([path, kind]): PathUse[] => {
    const file = kind === 'secret file' ? locationByPath.get(path) : undefined
    return file === undefined ? [] : [{ setting: path, path: file, use: 'read' }]
  })
  const { native_dir } = config.store
  const optional: PathUse[] = [
    ...(config.outbound.ca_file === null
      ? []
      : [{ setting: 'outbound.ca_file', path: config.outbound.ca_file, use: 'read' as const }]),
    // The addon in the installed folder is only read.
    ...(native_dir === null
      ? []
      : [{ setting: 'store.native_dir', path: native_dir, use: nativeUse(native_dir) }]),
  ]
  return [
    { setting: 'store.path', path: dirname(realPath(config.store.path)), use: 'write' },
    { setting: 'backup.folder', path: config.backup.folder, use: 'write' },
    ...(configFile === null
      ? []
      : [{ setting: 'WINDFALL_CONFIG', path: configFile.source, use: 'read' as const }]),
    ...secrets,
    ...optional,
  ]
}

const nativeUse = (folder: string): 'read' | 'write' => (folder === INSTALLED_FOLDER ? 'read' : 'write')

function realPath(path: string): string {
  try {
    return realPathOf(path)
  } catch {
    return path
  }
}

const isWithin = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder.replace(/\/+$/, '')}/`)

type Problem = Omit<AccessProblem, 'setting'>
type Seen = Omit<PathUse, 'setting'>

function unitProblem({ path, use }: Seen, { writable, hidden, readOnly }: Unit): Problem | null {
  const real = realPath(path)
  const hiddenBy = hidden.find((folder) => isWithin(real, folder))
  if (hiddenBy !== undefined)
    return {
      problem: `${path} is hidden from ${UNIT_NAME}, which does not see ${hiddenBy}`,
      advice: `Move it below /var/lib/windfall${use === 'read' ? ' or /etc/windfall' : ''}.`,
    }
  if (use === 'read' || !readOnly.some((folder) => isWithin(real, folder))) return null
  if (writable.some((folder) => isWithin(real, folder))) return null
  return {
    problem: `${path} cannot be written by ${UNIT_NAME}`,
    advice: `Run \`systemctl edit windfall\`, add the lines "[Service]" and "ReadWritePaths=${path}", create the folder for the user windfall, and restart; or choose a folder below /var/lib/windfall.`,
  }
}

/** A user with its main group. */
type User = { name: string; uid: number; gid: number }

/** The user `name` of the system at `root`; null if it is unknown. */
export function userNamed(name: string | null, root = '/'): User | null {
  const line = textAt(join(root, 'etc/passwd'))
    ?.split('\n')
    .find((one) => one.startsWith(`${name}:`))
  const [found, , uid, gid] = line?.split(':') ?? []
  return found === undefined ? null : { name: found, uid: Number(uid), gid: Number(gid) }
}

/** What the modes of the files forbid the user; null if nothing, or if this process cannot see them. */
function userProblem({ path, use }: Seen, user: User, root: string): Problem | null {
  const forbids = (one: string, bit: number): boolean => {
    const file = join(root, one)
    return existsSync(file) && !permits(file, user, bit)
  }
  try {
    const closed = foldersAbove(path).find((folder) => forbids(folder, 0o1))
    if (closed !== undefined)
      return {
        problem: `${closed} cannot be entered by the user ${user.name}, and ${path} is below it`,
        advice: `Run: chmod o+x ${closed}, or move it below /var/lib/windfall.`,
      }
    if (!forbids(path, use === 'write' ? 0o2 : 0o4)) return null
    return {
      problem: `${path} cannot be ${use === 'write' ? 'written' : 'read'} by the user ${user.name}`,
      advice: `Run: chown ${user.name}: ${path}`,
    }
  } catch {
    return null
  }
}

/** Every folder above `path`, the nearest first. */
function foldersAbove(path: string): string[] {
  const above = dirname(path)
  return above === path ? [] : [above, ...foldersAbove(above)]
}

/** Whether the mode of `path` permits `bit` (1 to enter, 2 to write, 4 to read) to the user. */
function permits(path: string, { uid, gid }: User, bit: number): boolean {
  if (uid === 0) return true
  const { mode, uid: owner, gid: group } = statSync(path)
  const shift = owner === uid ? 6 : group === gid ? 3 : 0
  return ((mode >> shift) & bit) !== 0
}
