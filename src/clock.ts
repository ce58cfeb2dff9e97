/** The time, passed in, so that a test can turn it by hand. */
export type Clock = () => number

/** Milliseconds since the epoch, from the machine. */
export const systemClock: Clock = () => Date.now()
