/** The words of webhooks: states, deliveries, replays. */
import { expect, test } from 'vitest'
import {
  attemptTitle,
  bodyNote,
  deliveryClockNote,
  stateAbout,
} from '../../../../src/web/ui/settings/webhooks/deliveries/delivery_words.ts'
import {
  isStopped,
  stateWords,
  successRate,
  waitingWords,
} from '../../../../src/web/ui/settings/webhooks/endpoint_state.ts'
import {
  EMPTY_REPLAY,
  replayBody,
  replayProblem,
} from '../../../../src/web/ui/settings/webhooks/replay/replay_request.ts'
import { endpointOf } from './endpoints.ts'

test('each state says what it means and what to do', () => {
  const remedyOf = (changes: Parameters<typeof endpointOf>[0]) => stateWords(endpointOf(changes)).remedy
  expect(remedyOf({})).toBeNull()
  expect(remedyOf({ state: 'failing', reason: 'no_success' })).toContain('within 15 seconds')
  expect(remedyOf({ state: 'paused', reason: 'owner' })).toContain('Resume')
  expect(remedyOf({ state: 'paused', reason: 'five_days' })).toContain('test event')
  expect(remedyOf({ state: 'disabled', reason: 'gone_410' })).toContain('Correct the URL')
  expect(remedyOf({ state: 'disabled', reason: 'secret_unreadable' })).toContain('windfall.key')
  expect(remedyOf({ state: 'disabled', reason: 'config_removed' })).toContain('config.toml')
  const unreadable = stateWords(endpointOf({ types: [], unreadable: ['types'] }))
  expect(unreadable).toMatchObject({
    title: 'Stopped',
    about: expect.stringContaining('Its types cannot be read'),
  })
  expect(stateWords(endpointOf({ kind: 'apple' })).about).toContain('notification')
  const unsteady = endpointOf({ health: { ...endpointOf().health, is_unsteady: true } })
  expect(stateWords(unsteady)).toMatchObject({ tone: 'warn', remedy: expect.stringContaining('repair') })
  const last_failure_words = 'The receiver answered 503.'
  const failing = endpointOf({ state: 'failing', health: { ...endpointOf().health, last_failure_words } })
  expect(stateWords(failing).about).toMatch(/nothing is lost\. Last answer: The receiver answered 503\.$/)
  expect([endpointOf({ state: 'failing' }), endpointOf({ state: 'paused' })].map(isStopped)).toEqual([
    false,
    true,
  ])
})

test('health is a rate of the attempts, and a count of what waits', () => {
  const { health } = endpointOf()
  expect(successRate({ health })).toBeNull()
  expect(successRate({ health: { ...health, attempts: 8, succeeded: 6 } })).toBe(0.75)
  expect(waitingWords({ kind: 'events', health: { ...health, waiting: 1 } })).toBe('1 event')
  const capped = { ...health, waiting: 10_000, is_waiting_capped: true }
  expect(waitingWords({ kind: 'apple', health: capped })).toBe('more than 10,000 notifications')
})

test('an attempt is named by its status, or by why there was none', () => {
  expect(attemptTitle({ status: 500, kind: 'rejected' })).toBe('500')
  expect(attemptTitle({ status: 500, kind: 'aborted' })).toBe('500, aborted')
  expect(attemptTitle({ status: null, kind: 'dns' })).toBe('Host not found')
  expect(attemptTitle({ status: null, kind: 'new_kind' })).toBe('New kind')
})

test('a clock that differs by more than a minute is reported, by the last attempt that had one', () => {
  const attempt = (number: number, clock_ms: number | null) => ({
    number,
    at: 1,
    ms: 1,
    kind: 'delivered',
    status: 200,
    words: '',
    address: null,
    excerpt: null,
    clock_ms,
    is_probe: false,
  })
  const note = (...clocks: (number | null)[]) =>
    deliveryClockNote({ attempt_log: clocks.map((clock, index) => attempt(index + 1, clock)) })
  expect(note()).toBeNull()
  expect(note(60_000)).toBeNull()
  expect(note(120_000, null)).toContain('2 min ahead of')
  expect(note(120_000, 0)).toBeNull()
  expect(note(-7_200_000)).toContain('2 hr behind')
})

test('a delivery says why it ended, and what it waits for', () => {
  expect(stateAbout({ state: 'waiting', reason: null }, true)).toContain('when it is due')
  expect(stateAbout({ state: 'waiting', reason: null }, false)).toContain('endpoint is active')
  expect(stateAbout({ state: 'failed', reason: 'The receiver answered 400.' }, true)).toContain('400')
  expect(stateAbout({ state: 'skipped', reason: null }, false)).toContain('replayed')
})

test('a missing body says why it is missing', () => {
  expect(bodyNote({ state: 'waiting', attempts: 0, body_bytes: null })).toContain('before the first attempt')
  expect(bodyNote({ state: 'dropped', attempts: 0, body_bytes: null })).toContain('No attempt')
  expect(bodyNote({ state: 'waiting', attempts: 2, body_bytes: null })).toContain('made again')
  expect(bodyNote({ state: 'delivered', attempts: 1, body_bytes: 2_000 })).toContain('2 kB')
})

test('a replay sends its range and its filters, and nothing of the other ranges', () => {
  const draft = { ...EMPTY_REPLAY, from: '2026-11-20T10:00', from_seq: '5', until_seq: '9' }
  expect(replayBody(draft)).toEqual({ from_at: new Date('2026-11-20T10:00').getTime() })
  expect(replayBody({ ...draft, mode: 'seq' })).toEqual({ from_seq: 5, until_seq: 9 })
  const filtered = { ...draft, types: ['trial.started'], apps: ['app_1'], environment: 'sandbox' }
  expect(replayBody({ ...filtered, mode: 'failed' })).toEqual({
    failed: true,
    types: ['trial.started'],
    apps: ['app_1'],
    environment: 'sandbox',
  })
})

test('a replay needs a range that is not empty', () => {
  expect(replayProblem(EMPTY_REPLAY)).toContain('Enter')
  expect(replayProblem({ ...EMPTY_REPLAY, mode: 'seq' })).toContain('Enter')
  expect(replayProblem({ ...EMPTY_REPLAY, mode: 'failed' })).toBeNull()
  expect(replayProblem({ ...EMPTY_REPLAY, until: '2026-11-20T10:00' })).toBeNull()
  expect(replayProblem({ ...EMPTY_REPLAY, mode: 'seq', from_seq: '9', until_seq: '5' })).toContain('before')
  expect(replayProblem({ ...EMPTY_REPLAY, mode: 'seq', from_seq: '1.5' })).toContain('whole number')
})
