/** Texts on how far reconciliation has compared each app. */
import { instant, plural } from '../../words.ts'

/** `checked_at` is null until the first comparison has ended. */
type Comparison = {
  compared_until_at: number
  checked_at: number | null
  problem: string | null
  problem_at: number | null
}

/** The reconciliation state of an app in one environment. */
export type Compared = {
  app_id: string
  environment: string
  has_key: boolean
  comparison: Comparison | null
}

const isCompared = ({ comparison }: Compared): boolean =>
  comparison !== null && comparison.checked_at !== null

/** The text of an empty gap list. It reports that nothing is missing only if a comparison has finished. */
export function noGapsMessage(apps: readonly Compared[]): { title: string; text: string; isSure: boolean } {
  const done = apps.filter(isCompared)
  if (done.length === 0)
    return {
      title: 'Not compared yet',
      text: 'The first comparison runs 15 minutes after an app and its In-App Purchase key are connected.',
      isSure: false,
    }
  const until = Math.min(...done.map(({ comparison }) => comparison?.compared_until_at ?? 0))
  const rest = apps.length - done.length
  return {
    title: rest === 0 ? 'Nothing is missing' : 'Nothing is missing so far',
    text: [
      `Everything that Apple sent before ${instant(until)} was received.`,
      ...(rest === 0 ? [] : [`${plural(rest, 'app')} not compared yet.`]),
    ].join(' '),
    isSure: rest === 0,
  }
}

/** How far one app has been compared. */
export function comparisonText(app: Compared): { text: string; isBad: boolean } {
  const { comparison, has_key } = app
  if (comparison?.problem)
    return { text: `stopped ${instant(comparison.problem_at)}: ${comparison.problem}`, isBad: true }
  if (comparison && isCompared(app))
    return { text: `complete until ${instant(comparison.compared_until_at)}`, isBad: false }
  return { text: has_key ? 'not yet' : 'requires an In-App Purchase key: windfall connect', isBad: false }
}
