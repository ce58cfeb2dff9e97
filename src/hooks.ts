/** Hooks: one module lets others add functions that it calls when something happens. app.ts adds them. */

/**
 * Opens a hook. `add` always appends: no listener replaces another. `call` calls the listeners in the order they were
 * added and returns their results in that order; the module that calls decides what several results mean.
 *
 * An error of a listener is thrown by `call`, and the listeners after it are not called: within a unit of work the
 * whole unit is undone.
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
