/** The chart of labels: the share of verified calls on each day, and of each reason why others were not attested. */
import { hueOf } from '../../charts/colours.ts'
import type { Graph, Line } from '../../charts/graph.ts'
import { timeTicks } from '../../charts/ticks.ts'
import { unattestedTitle } from '../../evidence/proofs.tsx'
import { day, share, stepsBetween } from '../../words.ts'
import type { Calls } from './device_queries.ts'

export type Endpoint = Calls['calls'][number]['endpoint']

const VERIFIED = 'verified'
const UNKNOWN_REASON = 'unverified/'

type Call = Calls['calls'][number]
const keyOf = ({ verification, unattested }: Call): string =>
  verification === 'verified' ? VERIFIED : `unverified/${unattested}`

/** The title of a label and its reason. */
const titleOf = ({ verification, unattested }: Call): string =>
  verification === 'verified' ? 'Verified' : unattestedTitle(unattested)

/** The share of verified calls over all days; null without calls. */
export function verifiedShare({ calls }: Calls, endpoint: Endpoint): number | null {
  const chosen = calls.filter((call) => call.endpoint === endpoint)
  const total = sum(chosen)
  return total === 0 ? null : sum(chosen.filter(({ verification }) => verification === 'verified')) / total
}

/** The number of calls if none is verified; null otherwise. A chart of them would be a wall of one color. */
export function unverifiedCount({ calls }: Calls, endpoint: Endpoint): number | null {
  const chosen = calls.filter((call) => call.endpoint === endpoint)
  const isVerified = chosen.some(({ verification }) => verification === 'verified')
  return chosen.length > 0 && !isVerified ? sum(chosen) : null
}

/** The reasons why calls are not attested with their share, as `Simulator: 3.7%`. */
export function reasonsText(answer: Calls, endpoint: Endpoint): string {
  const { lines, figureOf, format } = callGraph(answer, endpoint)
  const reasons = lines.filter(({ key }) => key !== VERIFIED && key !== UNKNOWN_REASON)
  return reasons.map((line) => `${line.title}: ${format(figureOf(line))}.`).join(' ')
}

/** The chart of one endpoint. A day without calls has no value. */
export function callGraph({ from_on, until_on, calls }: Calls, endpoint: Endpoint): Graph {
  const on = stepsBetween(from_on, until_on, 'day')
  const chosen = calls.filter((call) => call.endpoint === endpoint)
  const byDay = Map.groupBy(chosen, ({ counted_on }) => counted_on)
  const labels = [...Map.groupBy(chosen, keyOf).entries()].sort(([a], [b]) => rank(a) - rank(b))
  // Verified calls have the first color, and no others.
  const offset = labels[0]?.[0] === VERIFIED ? 0 : 1
  const lines = labels.map(
    ([key, [first]], index): Line => ({
      key,
      title: first ? titleOf(first) : key,
      hue: hueOf(index + offset),
      style: 'bar',
      values: on.map((day) => shareOn(byDay.get(day) ?? [], key)),
    }),
  )
  return {
    label: endpoint === 'identify' ? 'Labels of calls by day' : 'Labels of links by day',
    on,
    complete: on.map((day) => day !== until_on),
    lines,
    isStacked: true,
    format: (value) => share(value),
    formatShort: (value) => share(value, 0),
    ticks: (maxCount) => timeTicks(on, 'day', maxCount),
    title: (index) => day(on[index] ?? ''),
    pointHeading: 'Day (UTC)',
    figureOf: ({ key }) => sum(chosen.filter((call) => keyOf(call) === key)) / sum(chosen),
  }
}

const rank = (key: string): number => (key === VERIFIED ? 0 : key === UNKNOWN_REASON ? 2 : 1)

function shareOn(calls: readonly Call[], key: string): number | null {
  const total = sum(calls)
  return total === 0 ? null : sum(calls.filter((call) => keyOf(call) === key)) / total
}

const sum = (calls: readonly Call[]): number => calls.reduce((total, call) => total + call.calls, 0)
