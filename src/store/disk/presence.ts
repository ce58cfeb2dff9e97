/** Checks whether the path of the database still refers to the open file, or the file was replaced or deleted. */
import { statSync } from 'node:fs'

/**
 * Returns a function that checks the path, in a few microseconds. A path that is no longer accessible counts as
 * deleted. Call `openPresence` right after opening the file.
 */
export function openPresence(file: string): () => 'present' | 'replaced' | 'deleted' {
  const opened = statSync(file)
  return () => {
    try {
      const now = statSync(file)
      return now.ino === opened.ino && now.dev === opened.dev ? 'present' : 'replaced'
    } catch {
      return 'deleted'
    }
  }
}
