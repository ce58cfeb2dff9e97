/** Watches folders for changed files. */
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'

/** Editors save a file in several steps. */
const QUIET_MS = 30

/**
 * Calls `onChange` with the changed paths below `folders` and in `files`, after 30 ms without a change. Watches folders
 * instead of files, because an editor may replace a file when it saves.
 */
export function watchFiles(
  { folders, files }: { folders: readonly string[]; files: readonly string[] },
  onChange: (paths: string[]) => void,
) {
  const watchers = new Map<string, FSWatcher>()
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function watchBelow(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) watchBelow(join(folder, entry.name))
    if (!watchers.has(folder)) begin(folder, note)
  }

  function begin(folder: string, heard: (path: string) => void): void {
    const watcher = watch(folder, (_, name) => heard(join(folder, name ?? '')))
    watcher.on('error', () => forget(folder))
    watchers.set(folder, watcher)
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }

  function note(path: string): void {
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(report, QUIET_MS)
  }

  function report(): void {
    for (const folder of folders) watchBelow(folder)
    const paths = [...changed].sort()
    changed.clear()
    onChange(paths)
  }

  for (const folder of folders) watchBelow(folder)
  for (const folder of new Set(files.map(dirname)))
    begin(folder, (path) => {
      if (files.includes(path)) note(path)
    })
  return {
    close(): void {
      clearTimeout(timer)
      for (const folder of [...watchers.keys()]) forget(folder)
    },
  }
}
