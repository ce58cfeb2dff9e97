/** The API answers of digests, and their titles. */
import type { InferOutput } from 'valibot'
import type { DigestAnswer, DigestPreview, DigestsAnswer } from '../../../api/alerts/digests.ts'
import { day, span, weekday } from '../words.ts'

export type Digest = InferOutput<typeof DigestAnswer>
export type Preview = InferOutput<typeof DigestPreview>
export type Digests = InferOutput<typeof DigestsAnswer>
export type DigestFigures = Preview['figures']

export const KIND_TITLES: Record<Digest['kind'], string> = { daily: 'Daily digest', weekly: 'Weekly digest' }

/** The days of a digest in words: a weekday with its date, or a range of dates. */
export const periodText = (from_on: string, until_on: string): string =>
  from_on === until_on ? `${weekday(from_on)}, ${day(from_on)}` : span(from_on, until_on, 'day')
