/** Seeds and run counts of random tests: short by default, long with `npm run test:long -- --seed N`. */

/** True in the long form. */
export const isLong = process.env.WINDFALL_LONG === '1'

/** The seed of this run. Tests print it, so that a failure can be repeated. */
export const seed = Number(process.env.WINDFALL_SEED ?? 20_261_121)

/** fast-check's settings with `short` runs, or `long` runs in the long form. */
export const runs = (short: number, long: number) => ({ numRuns: isLong ? long : short, seed })
