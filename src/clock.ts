/** A clock returns milliseconds since the epoch. It is passed in, so that tests can set the time. */
export type Clock = () => number

/** The clock of the operating system. */
export const systemClock: Clock = () => Date.now()
