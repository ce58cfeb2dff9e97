/** Whether the path of the database still names the file that is open, or it was replaced or deleted. */
import { statSync } from 'node:fs'

/**
 * Looks at the path each time it is asked, in some microseconds. A path that cannot be followed any more counts as
 * deleted. To be opened right after the file was.
 */
export function openPresence(file: string): () => 'there' | 'replaced' | 'deleted' {
  const opened = statSync(file)
  return () => {
    try {
      const now = statSync(file)
      return now.ino === opened.ino && now.dev === opened.dev ? 'there' : 'replaced'
    } catch {
      return 'deleted'
    }
  }
}
