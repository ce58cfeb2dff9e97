/** What `npm run test:shipped` was asked for, and how its tests report. */

const SHORT_MINUTES = 2

/** The days to simulate. */
export const days = Number(process.env.WINDFALL_DAYS ?? 8)

/** The minutes to run. */
export const minutes = Number(process.env.WINDFALL_MINUTES ?? SHORT_MINUTES)

const MOST_FAULTS = 40
const MOST_CHARACTERS = 600

/** Prints what a soak counted, and its first faults. Returns these, shortened. */
export function report(
  name: string,
  counts: Record<string, unknown>,
  faults: readonly string[],
): readonly string[] {
  const figures = Object.entries(counts).map(([key, value]) => `${key} ${value}`)
  process.stdout.write(`${name}: ${figures.join(', ')}; faults ${faults.length}\n`)
  return faults.slice(0, MOST_FAULTS).map((fault) => fault.slice(0, MOST_CHARACTERS))
}
