/** Describes how certain yesterday's proceeds are. */
import type { InferOutput } from 'valibot'
import type { TodayAnswer } from '../../../api/metrics/today.ts'
import { share } from '../words.ts'

export type TodayFigures = InferOutput<typeof TodayAnswer>

/** Above this fraction of estimated proceeds, the text calls all of them estimated. */
const MOSTLY_ESTIMATED = 0.995

/** Says whether the proceeds are from Apple’s reports, estimated or preliminary. */
export function certaintyText({ gross, proceeds, estimated_share }: TodayFigures['yesterday']): string {
  if (!gross.milli && !proceeds.milli) return proceeds.complete ? 'No sales.' : 'No data yet.'
  const estimated = estimateText(estimated_share)
  return proceeds.complete ? estimated : `Preliminary. ${estimated}`
}

function estimateText(fraction: number | null): string {
  if (!fraction) return 'From Apple’s reports.'
  if (fraction > MOSTLY_ESTIMATED) return 'Estimated until Apple’s report for the day arrives.'
  return `${share(fraction, 0)} is estimated.`
}
