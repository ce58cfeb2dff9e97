/** Temporary folders of tests, deleted after the tests of the file. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEndOfEachFile } from './closing.ts'

const folders = new Set<string>()
const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true })

atEndOfEachFile(() => {
  for (const path of folders) removeFolder(path)
  folders.clear()
})

/** `remove` deletes the folder early, for tests that create many. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'windfall-'))
  folders.add(path)
  return {
    path,
    remove: () => {
      removeFolder(path)
      folders.delete(path)
    },
  }
}

/** Copies the database files of an instance as they are on disk now, which is what a killed process leaves. */
export function copyOfDatabase(from: string): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder()
  for (const name of ['windfall.db', 'windfall.db-wal', 'windfall.key', 'instance']) {
    const file = join(from, 'data', name)
    if (existsSync(file)) cpSync(file, join(folder.path, 'data', name))
  }
  return folder
}
