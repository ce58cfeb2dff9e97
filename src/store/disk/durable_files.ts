/** Writes files so that a crash leaves the old content or the new one: under another name, synced, then renamed. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Writes `text` to `path`. Replaces an existing file. */
export function writeFileDurably(path: string, text: string, mode: number): void {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, text, { mode, flush: true })
  renameDurably(partial, path)
}

/** Copies `source` to `path`. Replaces an existing file, also a program that runs. */
export function copyFileDurably(source: string, path: string, mode: number): void {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  try {
    copyFileSync(source, partial)
    chmodSync(partial, mode)
    syncPath(partial)
    renameDurably(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

/** Renames a file and syncs its folder. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  syncPath(dirname(to))
}

/** Makes the content of a file, or the names in a folder, durable. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
