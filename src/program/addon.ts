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
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { Refusal } from '../errors.ts'
import { form } from './form.ts'

const ASSET = 'better_sqlite3.node'
/** The SHA-256 of the addon in hex. With it a start compares the file without touching the copy in the executable. */
const DIGEST_ASSET = 'better_sqlite3.sha256'
const CHUNK_BYTES = 65_536
/** The key of the path that a thread receives from the thread that started it. */
const PATH_KEY = 'windfall.addon'

/** The folder into which `windfall install` writes the addon. */
export const INSTALLED_FOLDER = '/usr/local/lib/windfall'

/** Commands that read no configuration, such as `windfall verify FILE`, use the variable, too. */
let configuredFolder: string | null = process.env.WINDFALL_STORE_NATIVE_DIR || null
let loaded: { exports: object; file: string } | null = null

/** Sets the folder of the setting `store.native_dir`; null: beside the database. */
export function setAddonFolder(folder: string | null): void {
  configuredFolder = folder
}

/**
 * The addon for a connection to the database `file`, loaded on the first call; null outside of the executable, where
 * better-sqlite3 finds its own.
 *
 * @throws Refusal 500 `unusable_addon`, with one line that says what to do, if the folder cannot be written or permits
 * no executable files.
 */
export function addonFor(file: string): object | null {
  if (form !== 'executable') return null
  loaded ??= load(foundPath() ?? writeAddon(configuredFolder ?? join(dirname(file), 'native')))
  return loaded.exports
}

/** The file of the loaded addon; null if none is loaded, or outside of the executable. */
export const addonFile = (): string | null => loaded?.file ?? null

/** The addon that another thread loaded, or that `windfall install` wrote. */
function foundPath(): string | null {
  const given = getEnvironmentData(PATH_KEY)
  if (typeof given === 'string') return given
  if (configuredFolder !== null) return null
  const installed = join(INSTALLED_FOLDER, fileName())
  return digestOf(installed) === expectedDigest() ? installed : null
}

/**
 * Writes the addon to `folder` unless it is there with the same content, and returns its path. The name contains the
 * hash of the content, so that two versions can use one folder.
 *
 * @throws Refusal 500 `unusable_addon`, with one line that says what to do.
 */
export function writeAddon(folder: string): string {
  const file = join(folder, fileName())
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    refuseOthers(folder)
    if (digestOf(file) === expectedDigest()) return file
    writeDurably(file, new Uint8Array(getRawAsset(ASSET)))
    return file
  } catch (error) {
    throw unusable(`written to ${folder}: ${(error as Error).message}`, 'that only you can write')
  }
}

/** What is in the folder is executed. Another user may own it in a folder that everyone can write, such as /tmp. */
function refuseOthers(folder: string): void {
  const isOpen = (path: string): boolean => (statSync(path).mode & 0o002) !== 0
  const { uid } = statSync(folder)
  const isForeign = uid !== 0 && uid !== process.geteuid?.()
  if (isOpen(folder) || (isForeign && isOpen(dirname(folder))))
    throw new Error('other users can write it, and could replace what is executed')
}

function writeDurably(file: string, content: Uint8Array): void {
  const partial = `${file}.${process.pid}.partial`
  // A process with the same id may have been killed here: in a container, the ids repeat.
  rmSync(partial, { force: true })
  const handle = openSync(partial, 'wx', 0o500)
  try {
    writeFileSync(handle, content)
    fsyncSync(handle)
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

const unusable = (problem: string, remedy: string): Refusal =>
  new Refusal(
    500,
    'unusable_addon',
    `SQLite’s addon cannot be ${problem}. Set store.native_dir (WINDFALL_STORE_NATIVE_DIR) to a folder ${remedy}.`,
  )

const expectedDigest = (): string => getAsset(DIGEST_ASSET, 'utf8')

const fileName = (): string => `better_sqlite3-${expectedDigest().slice(0, 16)}.node`

/** The SHA-256 of a file in hex, read in chunks because its memory would stay with the process; null without a file. */
function digestOf(file: string): string | null {
  let handle: number | null = null
  try {
    handle = openSync(file, 'r')
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    for (;;) {
      const bytes = readSync(handle, chunk, 0, CHUNK_BYTES, null)
      if (bytes === 0) return hash.digest('hex')
      hash.update(chunk.subarray(0, bytes))
    }
  } catch {
    return null
  } finally {
    if (handle !== null) closeSync(handle)
  }
}

function load(file: string): { exports: object; file: string } {
  const addonModule: { exports: object } = { exports: {} }
  try {
    process.dlopen(addonModule, file, constants.dlopen.RTLD_LAZY)
  } catch (error) {
    const { message } = error as Error
    const reason = /failed to map segment|Operation not permitted/.test(message)
      ? 'its file system is mounted with noexec'
      : message
    throw unusable(
      `loaded from ${dirname(file)}: ${reason}`,
      `that permits executable files, such as ${INSTALLED_FOLDER}`,
    )
  }
  setEnvironmentData(PATH_KEY, file)
  return { exports: addonModule.exports, file }
}
