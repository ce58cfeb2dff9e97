/**
 * SQLite's native addon for the executable. Node can load an addon from a file only, so the executable writes its
 * addon to a folder once.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { getRawAsset } from 'node:sea'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { form } from './form.ts'

const ASSET = 'better_sqlite3.node'
/** The key of the path that a thread receives from the thread that started it. */
const PATH_KEY = 'windfall.addon'

/** The folder into which `windfall install` writes the addon. */
export const INSTALLED_FOLDER = '/usr/local/lib/windfall'

let configuredFolder: string | null = null
let loaded: object | null = null

/** Sets the folder of the setting `store.native_dir`; null: beside the database. */
export function setAddonFolder(folder: string | null): void {
  configuredFolder = folder
}

/**
 * The addon for a connection to the database `file`, loaded on the first call; null outside of the executable, where
 * better-sqlite3 finds its own.
 *
 * @throws Error with one line that says what to do, if the folder cannot be written or permits no executable files.
 */
export function addonFor(file: string): object | null {
  if (form !== 'executable') return null
  loaded ??= load(foundPath() ?? writeAddon(configuredFolder ?? join(dirname(file), 'native')))
  return loaded
}

/** The addon that another thread loaded, or that `windfall install` wrote. */
function foundPath(): string | null {
  const given = getEnvironmentData(PATH_KEY)
  if (typeof given === 'string') return given
  if (configuredFolder !== null) return null
  const installed = join(INSTALLED_FOLDER, fileName())
  return contentOf(installed)?.equals(addon()) ? installed : null
}

/**
 * Writes the addon to `folder` unless it is there with the same content, and returns its path. The name contains the
 * hash of the content, so that two versions can use one folder.
 *
 * @throws Error with one line that says what to do.
 */
export function writeAddon(folder: string): string {
  const file = join(folder, fileName())
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if ((statSync(folder).mode & 0o002) !== 0)
      throw new Error('other users can write it, and could replace what is executed')
    if (contentOf(file)?.equals(addon())) return file
    const partial = `${file}.${process.pid}.partial`
    const handle = openSync(partial, 'w', 0o500)
    try {
      writeSync(handle, addon())
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(partial, file)
    return file
  } catch (error) {
    throw new Error(`SQLite’s addon cannot be written to ${folder}: ${(error as Error).message}. ${REMEDY}`)
  }
}

const REMEDY = 'Set store.native_dir (WINDFALL_STORE_NATIVE_DIR) to a folder that only you can write.'

let bytes: Buffer | null = null
function addon(): Buffer {
  bytes ??= Buffer.from(getRawAsset(ASSET))
  return bytes
}

const fileName = (): string =>
  `better_sqlite3-${createHash('sha256').update(addon()).digest('hex').slice(0, 16)}.node`

function contentOf(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}

function load(file: string): object {
  const addonModule: { exports: object } = { exports: {} }
  try {
    process.dlopen(addonModule, file, constants.dlopen.RTLD_LAZY)
  } catch (error) {
    const { message } = error as Error
    const reason = /failed to map segment|Operation not permitted/.test(message)
      ? 'its file system is mounted with noexec'
      : message
    throw new Error(
      `SQLite’s addon cannot be loaded from ${dirname(file)}: ${reason}. Set store.native_dir (WINDFALL_STORE_NATIVE_DIR) to a folder that permits executable files, such as ${INSTALLED_FOLDER}.`,
    )
  }
  setEnvironmentData(PATH_KEY, file)
  // The addon is in use from here on; its bytes are not needed a second time.
  bytes = null
  return addonModule.exports
}
