/** The state of an endpoint in words: what it means and what to do. */
import { plural } from '../../words.ts'
import type { Endpoint } from './webhook_queries.ts'

type State = Pick<Endpoint, 'kind' | 'state' | 'reason' | 'health' | 'unreadable'>
type StateWords = {
  title: string
  tone: 'good' | 'warn' | 'bad'
  /** What the state means. */
  about: string
  /** What to do; null if there is nothing to do. Backticks mark code. */
  remedy: string | null
}

const PAUSED_BY_OWNER: StateWords = {
  title: 'Paused',
  tone: 'warn',
  about: 'You paused this endpoint. Nothing is sent, and nothing is lost.',
  remedy: 'Resume it when the receiver is ready.',
}

/** The states that only a person ends. */
const REASONS: Partial<Record<NonNullable<Endpoint['reason']>, StateWords>> = {
  owner: PAUSED_BY_OWNER,
  five_days: {
    title: 'Paused',
    tone: 'bad',
    about: 'The receiver did not respond with success for five days. Nothing is sent, and nothing is lost.',
    remedy: 'Repair the receiver, send a test event to check it, then resume.',
  },
  gone_410: {
    title: 'Disabled',
    tone: 'bad',
    about: 'The receiver responded twice with 410 Gone, which means that it wants no more requests.',
    remedy: 'Correct the URL and resume, or delete the endpoint.',
  },
  secret_unreadable: {
    title: 'Disabled',
    tone: 'bad',
    about:
      'The signing secret cannot be read: `windfall.key` is missing, or it is not the key of this database.',
    remedy:
      'Put `windfall.key` of the backup beside the database, then resume. If it is lost, run `windfall outgoing new-key`, rotate the secret here, then resume.',
  },
  config_removed: {
    title: 'Disabled',
    tone: 'bad',
    about: 'This endpoint is no longer in config.toml.',
    remedy:
      'To send what waits, put its section back into config.toml and reload the configuration. Otherwise delete the endpoint.',
  },
}

/** The words of an endpoint's state, with the last answer if failures caused it. */
export function stateWords(endpoint: State): StateWords {
  const words = wordsOf(endpoint)
  const { last_failure_words: answer } = endpoint.health
  return answer === null ? words : { ...words, about: `${words.about} Last answer: ${answer}` }
}

function wordsOf({ kind, state, reason, health, unreadable }: State): StateWords {
  if (unreadable.length > 0)
    return {
      title: 'Stopped',
      tone: 'bad',
      about: `Its ${unreadable.join(' and ')} cannot be read in the database. Nothing is sent, and nothing is lost.`,
      remedy: 'Set them again.',
    }
  const things = kind === 'apple' ? 'notification' : 'event'
  if (health.is_unsteady)
    return {
      title: 'Active, many fail',
      tone: 'warn',
      about: `Each matching ${things} is sent as it arrives, but fewer than 90 % of the attempts succeed.`,
      remedy: 'Read the responses below and repair the receiver. What waits is tried again.',
    }
  if (state === 'active')
    return {
      title: 'Active',
      tone: 'good',
      about: `Each matching ${things} is sent as it arrives.`,
      remedy: null,
    }
  if (state === 'failing')
    return {
      title: 'Failing',
      tone: 'bad',
      about: `The receiver does not respond with success. One ${things} is tried at a time, at most an hour apart. The others wait, and nothing is lost.`,
      remedy:
        'Check that the receiver runs and responds with a status from 200 to 299 within 15 seconds. After its first success everything that waits is sent, first what was never tried; retry to try it now. After five days without success the endpoint is paused.',
    }
  return (reason && REASONS[reason]) ?? { ...PAUSED_BY_OWNER, about: 'Nothing is sent, and nothing is lost.' }
}

/** Whether a person has to resume the endpoint. */
export const isStopped = ({ state }: Pick<Endpoint, 'state'>): boolean =>
  state === 'paused' || state === 'disabled'

/** Whether config.toml declares the endpoint, so that it cannot be changed here. */
export const isDeclared = ({ source }: Pick<Endpoint, 'source'>): boolean => source === 'config.toml'

/** How many events wait: `3 events`, `more than 10,000 events`. */
export function waitingWords({ kind, health }: Pick<Endpoint, 'kind' | 'health'>): string {
  const words = plural(health.waiting, kind === 'apple' ? 'notification' : 'event')
  return health.is_waiting_capped ? `more than ${words}` : words
}

/** How many deliveries were given up and neither sent again nor dismissed: `3 events`. */
export const lostWords = ({ kind, health }: Pick<Endpoint, 'kind' | 'health'>): string =>
  plural(health.lost, kind === 'apple' ? 'notification' : 'event')

/** The part of attempts within seven days that succeeded, from 0 to 1; null without attempts. */
export const successRate = ({ health }: Pick<Endpoint, 'health'>): number | null =>
  health.attempts === 0 ? null : health.succeeded / health.attempts
