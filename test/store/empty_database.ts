/** An empty database of this version, made once per process: running the schema takes longer than many tests. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'

let made: Promise<Buffer> | undefined

async function make(): Promise<Buffer> {
  const folder = temporaryFolder()
  const file = join(folder.path, 'windfall.db')
  await openStore(file).close()
  const bytes = readFileSync(file)
  folder.remove()
  return bytes
}

/** Writes the file that `openApp` would create at `path`. */
export async function placeEmptyDatabase(path: string): Promise<void> {
  made ??= make()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, await made, { mode: 0o600 })
}
