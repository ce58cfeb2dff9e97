/**
 * For a day, an organization accepts only proved SDK calls: those of attested devices, and those with the secret key. The
 * owner turns it on while strangers flood the server with calls.
 */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { Refusal } from '../../errors.ts'
import { openSetting } from '../../store/setting.ts'
import type { Store } from '../../store/store.ts'

const DAY_MS = 86_400_000
/**
 * When a refused client tries again, in seconds. It is short and the same for all: each client keeps its own time, so the
 * end brings no rush, and a device that has just enrolled need not wait for the end.
 */
const RETRY_AFTER_S = 900

export type AttestedOnly = ReturnType<typeof openAttestedOnly>

/** Opens the mode of each organization. `begin` and `end` must run inside a unit of work. */
export function openAttestedOnly(store: Pick<Store, 'prepare' | 'cached'>, clock: Clock) {
  const settingOf = (organization_id: string) => openSetting(store, `attested_only/${organization_id}`)
  const begunAt = store.cached(['settings'], (organization_id) =>
    Number(settingOf(organization_id).get() ?? Number.NaN),
  )

  /** When the mode ends, in ms since the epoch; null while it is off. */
  function untilOf(organization_id: string): number | null {
    const begun_at = begunAt(organization_id)
    // A begin in the future was stored while the clock was wrong.
    return begun_at <= clock() && clock() < begun_at + DAY_MS ? begun_at + DAY_MS : null
  }

  /** Turns the mode on for 24 hours from now, also if it is on already. Returns when it ends. */
  function begin(organization_id: string): number {
    const now = clock()
    settingOf(organization_id).set(String(now))
    return now + DAY_MS
  }

  /** Turns the mode off. Idempotent. */
  const end = (organization_id: string): void => settingOf(organization_id).clear()

  return { untilOf, begin, end }
}

/** Refusal 429 `attested_only`, because SDKs keep what is answered with 429, and repeat it after `retry-after`. */
export const attestedOnlyUntil = (until_at: number): Refusal =>
  new Refusal(
    429,
    'attested_only',
    `until ${utcMinuteText(until_at)} only calls of attested devices and calls with a secret key are accepted; keep the call and repeat it later`,
    { headers: { 'retry-after': String(RETRY_AFTER_S) } },
  )
