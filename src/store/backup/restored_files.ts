/** Restores the config file and the key files without overwriting existing files. */
import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { CONFIG, DATABASE, type Manifest } from './archive/format.ts'

/**
 * The result for a file of the backup: `restored` if there was none, `same` if an equal file exists, `beside` under
 * another name if a different file exists. `originalPath` is its old path, if that is outside of the config folder.
 */
export type PlacedFile = { file: string; state: 'restored' | 'same' | 'beside'; originalPath: string | null }

/** The folder for files whose old path is outside of the config folder. */
const OUTSIDE_FOLDER = 'keys'

/** Restores every file of the backup except the database into `folder`. Overwrites nothing. */
export function placeFiles(
  manifest: Manifest,
  { staging, folder, isRelocated }: { staging: string; folder: string; isRelocated: boolean },
): PlacedFile[] {
  return manifest.entries
    .filter(({ name }) => name !== DATABASE)
    .map(({ name, path }) => {
      // The configuration names another database than the one restored, which must not be served by accident.
      const isAside = isRelocated && name === CONFIG
      return place(join(staging, name), isAside ? `${path}.restored` : path, folder)
    })
}

function place(source: string, path: string, folder: string): PlacedFile {
  const isInside = isInsideFolder(path)
  if (!isInside && isSame(source, path)) return { file: path, state: 'same', originalPath: null }
  const target = join(folder, isInside ? path : join(OUTSIDE_FOLDER, basename(path)))
  const originalPath = isInside ? null : path
  if (isSame(source, target)) return { file: target, state: 'same', originalPath }
  const file = freeName(target)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  copyFileSync(source, file, constants.COPYFILE_EXCL)
  chmodSync(file, 0o600)
  return { file, state: file === target ? 'restored' : 'beside', originalPath }
}

/** Whether a path of the backup stays within the folder it is relative to. */
export const isInsideFolder = (path: string): boolean =>
  !isAbsolute(path) && !normalize(path).startsWith('..')

const isSame = (source: string, target: string): boolean =>
  existsSync(target) && readFileSync(target).equals(readFileSync(source))

/** The first free name of `config.toml`, `config.toml.restored`, `config.toml.restored-2` and so on. */
function freeName(target: string): string {
  const names = [target, `${target}.restored`]
  for (let number = 2; ; number += 1) {
    const free = names.find((name) => !existsSync(name))
    if (free !== undefined) return free
    names.push(`${target}.restored-${number}`)
  }
}
