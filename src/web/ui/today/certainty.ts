/** The certainty of yesterday's proceeds. */
import type { InferOutput } from 'valibot'
import type { TodayAnswer } from '../../../api/metrics/today.ts'
import { share } from '../words.ts'

export type TodayFigures = InferOutput<typeof TodayAnswer>

/** From this share on, everything counts as estimated. */
const ALL = 0.995

/** Says whether the proceeds are from Apple’s reports, estimated or preliminary. */
export function certainty({ gross, proceeds, estimated_share }: TodayFigures['yesterday']): string {
  if (!gross.milli && !proceeds.milli) return proceeds.complete ? 'No sales.' : 'No data yet.'
  const estimated = estimatedIn(estimated_share)
  return proceeds.complete ? estimated : `Preliminary. ${estimated}`
}

function estimatedIn(part: number | null): string {
  if (!part) return 'From Apple’s reports.'
  if (part > ALL) return 'Estimated until Apple’s report for the day arrives.'
  return `${share(part, 0)} is estimated.`
}
