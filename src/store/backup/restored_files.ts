/** Restores the config file and the key files without overwriting existing files. */
import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { keyFileOf } from '../../config/key_path.ts'
import { copyFileDurably } from '../disk/durable_files.ts'
import { CONFIG, DATABASE, type Manifest } from './archive/format.ts'

/**
 * The result for a file of the backup. `restored`: no file existed. `same`: an equal file exists. `beside`: a different
 * file exists, and the file was restored under another name. `swapped`: a different file was moved aside to `aside`.
 * `originalPath` is the path in the backup if that is outside of the config folder, otherwise null.
 */
export type PlacedFile = {
  file: string
  state: 'restored' | 'same' | 'beside' | 'swapped'
  originalPath: string | null
  aside?: string
}

type Destination = {
  staging: string
  folder: string
  database: string
  isRelocated: boolean
  /** The config file that the backup's replaces; null if none. */
  replacedConfig: string | null
}

/** The folder for files whose path in the backup is outside of the config folder. */
const OUTSIDE_FOLDER = 'keys'

/**
 * Restores every file of the backup except the database into `folder`. Overwrites nothing. The config file comes last,
 * because it names the others.
 */
export function placeFiles(manifest: Manifest, destination: Destination): PlacedFile[] {
  const { staging, folder, database, isRelocated, replacedConfig } = destination
  const original = manifest.entries.find(({ name }) => name === DATABASE)?.path ?? ''
  const config = manifest.entries.filter(({ name }) => name === CONFIG)
  return [...manifest.entries.filter((entry) => !config.includes(entry)), ...config]
    .filter(({ name }) => name !== DATABASE)
    .map(({ name, path }) => {
      // The restored database needs its own key, so the key follows it and replaces that of the previous database.
      if (path === keyFileOf(original)) return replace(join(staging, name), keyFileOf(database))
      if (name === CONFIG && replacedConfig !== null) return replace(join(staging, name), replacedConfig)
      // If the database was restored to another path, this configuration would serve another database by accident.
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

/** Keeps an existing file under another name. There is a file at each moment, also if the machine stops. */
function replace(source: string, file: string): PlacedFile {
  if (isSame(source, file)) return { file, state: 'same', originalPath: null }
  const aside = existsSync(file) ? freeAside(file) : null
  if (aside !== null) copyFileDurably(file, aside, 0o600)
  copyFileDurably(source, file, 0o600)
  return aside === null
    ? { file, state: 'restored', originalPath: null }
    : { file, state: 'swapped', originalPath: null, aside }
}

/** The first path of `windfall.key.replaced-1`, `windfall.key.replaced-2`, … at which nothing exists. */
function freeAside(file: string): string {
  for (let number = 1; ; number += 1) {
    const aside = `${file}.replaced-${number}`
    if (!existsSync(aside)) return aside
  }
}

/** Whether `path` is relative and does not leave its base folder. */
export const isInsideFolder = (path: string): boolean =>
  !isAbsolute(path) && !normalize(path).startsWith('..')

const isSame = (source: string, target: string): boolean =>
  existsSync(target) && readFileSync(target).equals(readFileSync(source))

/** The first path of `config.toml`, `config.toml.restored`, `config.toml.restored-2`, … at which nothing exists. */
function freeName(target: string): string {
  const names = [target, `${target}.restored`]
  for (let number = 2; ; number += 1) {
    const free = names.find((name) => !existsSync(name))
    if (free !== undefined) return free
    names.push(`${target}.restored-${number}`)
  }
}
