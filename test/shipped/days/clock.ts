/** Replaces Date and performance.now by a clock that can jump. */

export type JumpingClock = ReturnType<typeof installClock>

/** Replaces them. `starts_at`: the wall time of now, in ms. */
export function installClock(starts_at: number) {
  const RealDate = Date
  const realNow = performance.now.bind(performance)
  const began = realNow()
  let advanced = 0
  let shifted = starts_at

  /** Milliseconds since the process began. */
  const monotonic = (): number => realNow() + advanced
  const wall = (): number => Math.floor(shifted + monotonic() - began)

  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [wall()] : args, newTarget),
    apply: () => new RealDate(wall()).toString(),
    get: (target, key) => (key === 'now' ? wall : Reflect.get(target, key)),
  })
  Object.defineProperty(performance, 'now', { value: monotonic, configurable: true })

  return {
    monotonic,
    wall,
    /** Lets time pass at once, in ms. */
    advance: (ms: number): void => {
      advanced += ms
    },
    /** Sets the wall clock, as a person or NTP does: no time passes. */
    shift: (ms: number): void => {
      shifted += ms
    },
  }
}
