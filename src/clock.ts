/** The only file of the server that reads the time. */

/** Returns whole milliseconds. It is passed in, so that tests can set the time. */
export type Clock = () => number

/**
 * The clocks of an instance. `clock`: milliseconds since the epoch; it jumps when the machine's clock is set. `monotonic`:
 * milliseconds since some instant; it never jumps, and starts again with each process.
 */
export type Clocks = { clock: Clock; monotonic: Clock }

/** Clocks that cut the fractions of other clocks off: what they show is stored in columns of integers. */
export const wholeClocks = ({ clock, monotonic }: Clocks): Clocks => ({
  clock: () => Math.floor(clock()),
  monotonic: () => Math.floor(monotonic()),
})

/** The clocks of the machine. */
export const systemClocks: Clocks = wholeClocks({ clock: Date.now, monotonic: () => performance.now() })
export const systemClock: Clock = systemClocks.clock

/** Milliseconds with fractions since the process began, to measure durations that are compared or shown, never stored. */
export const preciseTime = (): number => performance.now()
