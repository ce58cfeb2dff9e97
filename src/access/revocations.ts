/** What we remember: who wants to know at once that somebody's access has ended, as an open stream does. */

export type Endings = ReturnType<typeof openEndings>

export function openEndings() {
  const watchers = new Set<() => void>()

  /** Calls `look` whenever access of somebody has ended, until the returned function is called. */
  function watch(look: () => void): () => void {
    watchers.add(look)
    return () => void watchers.delete(look)
  }

  /** To be called once it is on disk. */
  function tell(): void {
    for (const look of [...watchers]) look()
  }

  return { watch, tell }
}
