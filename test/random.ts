/** The random seeds of tests: a short form by default, a long one with `npm run test:long -- --seed N`. */

/** True in the long form. */
export const isLong = process.env.WINDFALL_LONG === '1'

/** The seed of this run, printed so that a failure can be had again. */
export const seed = Number(process.env.WINDFALL_SEED ?? 20_261_121)

/** fast-check's settings: `short` runs, or `long` ones. */
export const runs = (short: number, long: number) => ({ numRuns: isLong ? long : short, seed })
