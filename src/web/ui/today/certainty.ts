/** How sure one can be of what yesterday left. */
import type { InferOutput } from 'valibot'
import type { TodayAnswer } from '../../../api/metrics/today.ts'
import { share } from '../words.ts'

export type TodayFigures = InferOutput<typeof TodayAnswer>

/** Nearly all of it counts as all. */
const ALL = 0.995

/** In a sentence: from Apple’s reports, or estimated until they come. */
export function certainty({ gross, proceeds, estimated_share }: TodayFigures['yesterday']): string {
  if (!gross.milli && !proceeds.milli)
    return proceeds.complete ? 'Nothing was sold.' : 'Nothing is known of it yet.'
  const estimated = estimatedIn(estimated_share)
  return proceeds.complete ? estimated : `${estimated} Not all of the day is known yet.`
}

function estimatedIn(part: number | null): string {
  if (!part) return 'As Apple’s reports have it.'
  if (part > ALL) return 'Estimated until Apple’s report of the day is in.'
  return `${share(part, 0)} of it is estimated.`
}
