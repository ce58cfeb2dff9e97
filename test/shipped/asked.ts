/** What `npm run test:shipped` was asked for, and how its tests report. */

const SHORT_MINUTES = 2

/** The days to simulate. */
export const days = Number(process.env.WINDFALL_DAYS ?? 8)

/** The minutes to run. */
export const minutes = Number(process.env.WINDFALL_MINUTES ?? SHORT_MINUTES)

/** How many faults of a kind are printed. */
const EXAMPLES = 3
const MOST_CHARACTERS = 600

/** The words of a fault without what differs between faults of a kind: ids, numbers and times. */
const kindOf = (fault: string): string =>
  fault
    .replaceAll(/\S*\d\S*/g, '#')
    .replaceAll(/#(?: #)+/g, '#')
    .slice(0, MOST_CHARACTERS)

/** Prints what a soak counted. Returns its faults by kind: how many there are, and the first of them, shortened. */
export function report(
  name: string,
  counts: Record<string, unknown>,
  faults: readonly string[],
): readonly string[] {
  const figures = Object.entries(counts).map(([key, value]) => `${key} ${value}`)
  process.stdout.write(`${name}: ${figures.join(', ')}; faults ${faults.length}\n`)
  const kinds = [...Map.groupBy(faults, kindOf).values()].sort((a, b) => b.length - a.length)
  return kinds.map((all) =>
    [`${all.length} times`, ...all.slice(0, EXAMPLES).map((fault) => fault.slice(0, MOST_CHARACTERS))].join(
      '\n',
    ),
  )
}
