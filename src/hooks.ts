/** Hooks: a module calls the functions that app.ts added to its hook when something happens. */

/**
 * Opens a hook. `add` always appends: no listener replaces another. `call` calls the listeners in the order they were
 * added and returns their results in that order. The calling module decides how to combine several results.
 *
 * If a listener throws, `call` throws its error and does not call the listeners after it. Within a unit of work, the
 * error rolls back the whole unit.
 */
export function openHook<Args extends readonly unknown[], Result = void>() {
  let listeners: readonly { listener: (...args: Args) => Result }[] = []

  /** Adds a listener; the returned function removes it. */
  function add(listener: (...args: Args) => Result): () => void {
    const entry = { listener }
    listeners = [...listeners, entry]
    return () => {
      listeners = listeners.filter((other) => other !== entry)
    }
  }

  const call = (...args: Args): Result[] => listeners.map(({ listener }) => listener(...args))

  return { add, call }
}
