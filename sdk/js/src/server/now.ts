/** The current time of the runtime, in milliseconds since 1970. */
export const currentTime = (): number => Date.now()
