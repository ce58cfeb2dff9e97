import { expect, test } from 'vitest'
import type { FeedEvent } from '../../../src/web/ui/events/feed_event.ts'
import {
  type FeedWindow,
  withNewEvents,
  withNewestPage,
  withOlderPage,
} from '../../../src/web/ui/events/feed_window.ts'

const event = (seq: number): FeedEvent => ({
  seq,
  id: `evt_${seq}`,
  organization_id: 'org_1',
  app_id: null,
  environment: null,
  type: 'purchase.made',
  origin: 'live',
  customer_id: null,
  customer: null,
  mrr_effect: null,
  display_name: null,
  display_name_verified: null,
  subject: null,
  cause: 'x',
  occurred_at: seq,
  signed_at: null,
  recorded_at: seq,
  data: {},
})
const stretch = (seqs: number[], next: number | null): FeedWindow => ({ events: seqs.map(event), next })
const seqs = ({ events }: FeedWindow): number[] => events.map(({ seq }) => seq)

test('adds new events on top, newest first, without duplicates', () => {
  const present = stretch([5, 4, 2], 2)
  const after = withNewEvents(present, [event(6), event(5), event(8)])
  expect(seqs(after)).toEqual([8, 6, 5, 4, 2])
  expect(after.next).toBe(2)
})

test('drops the oldest events beyond the limit and can load them again', () => {
  const after = withNewEvents(stretch([3, 2, 1], null), [event(5), event(4)], 3)
  expect(seqs(after)).toEqual([5, 4, 3])
  expect(after.next).toBe(3)
})

test('merges a newest page that reaches the window', () => {
  const after = withNewestPage(stretch([5, 4], 4), stretch([9, 7, 6], 5))
  expect(seqs(after)).toEqual([9, 7, 6, 5, 4])
  expect(after.next).toBe(4)
})

test('replaces the window with a newest page that does not reach it', () => {
  const page = stretch([99, 98], 98)
  expect(withNewestPage(stretch([5, 4], 4), page)).toEqual(page)
  expect(withNewestPage(stretch([], null), page)).toEqual(page)
})

test('appends older events without duplicates', () => {
  const after = withOlderPage(stretch([5, 4], 4), stretch([4, 3, 2], null))
  expect(seqs(after)).toEqual([5, 4, 3, 2])
  expect(after.next).toBeNull()
})
