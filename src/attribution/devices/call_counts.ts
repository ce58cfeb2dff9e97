/** Counts accepted SDK calls by UTC day, credential and label: for the chart of labels and the forecast of a policy. */
import type { Clock } from '../../clock.ts'
import { addDays, dayOfUtc } from '../../days.ts'
import type { Store } from '../../store/store.ts'
import type { Credential } from '../callers.ts'
import type { Verification } from '../link.ts'
import type { AssertionState } from './assertions.ts'

const KEEP_DAYS = 800

/** An accepted call. `verification` is the label in its answer; `unattested` is the reason that the SDK stated. */
export type CountedCall = {
  app_id: string
  endpoint: 'identify' | 'attribute'
  credential: Credential
  assertion: AssertionState
  verification: Verification
  unattested: string | null
}

/** The calls of one day with one label and reason. */
type LabelCount = {
  counted_on: string
  endpoint: CountedCall['endpoint']
  verification: Verification
  /** Empty for verified calls, and for calls that stated no reason. */
  unattested: string
  calls: number
}

/** How many calls of the last days a policy would have refused. */
type PolicyForecast = {
  calls: number
  refused_by: { key: number; attestation: number; required_assertions: number }
}

/** Opens the counts. */
export function openCallCounts(store: Pick<Store, 'prepare'>, clock: Clock) {
  const add = store.prepare<Omit<CountedCall, 'unattested'> & { counted_on: string; unattested: string }>(`
    insert into call_counts ( counted_on,  app_id,  endpoint,  credential,  assertion,  verification,  unattested,  calls)
    values                  (:counted_on, :app_id, :endpoint, :credential, :assertion, :verification, :unattested, 1)
    on conflict do update set calls = calls + 1`)
  const labelled = store.prepare<{ apps: string; from: string; until: string }, LabelCount>(`
    select counted_on, endpoint, verification, unattested, sum(calls) as calls from call_counts
    where app_id in (select value from json_each(:apps)) and counted_on >= :from and counted_on <= :until
    group by counted_on, endpoint, verification, unattested order by counted_on`)
  const forecasted = store.prepare<
    { apps: string; from: string },
    { calls: number; key: number; attestation: number; required_assertions: number }
  >(`
    select
      coalesce(sum(calls), 0) as calls,
      coalesce(sum(calls) filter (where credential = 'none'), 0) as key,
      coalesce(sum(calls) filter (where credential in ('none', 'publishable')), 0) as attestation,
      coalesce(sum(calls) filter (where credential = 'device' and assertion = 'none'), 0) as required_assertions
    from call_counts where app_id in (select value from json_each(:apps)) and counted_on > :from`)
  const dropBefore = store.prepare<[string]>('delete from call_counts where counted_on < ?')

  /** Counts an accepted call, inside its unit of work. */
  function count(call: CountedCall): void {
    const unattested = call.verification === 'verified' ? '' : (call.unattested ?? '')
    add.run({ ...call, unattested, counted_on: dayOfUtc(clock()) })
  }

  /** The counts of apps from one UTC day until another, both inclusive, oldest first. */
  const labels = (app_ids: readonly string[], from: string, until: string): LabelCount[] =>
    labelled.all({ apps: JSON.stringify(app_ids), from, until })

  /** What each policy would have refused of the accepted calls of the last `days` UTC days, today included. */
  function forecast(app_ids: readonly string[], days = 7): PolicyForecast {
    const from = addDays(dayOfUtc(clock()), -days)
    const found = forecasted.get({ apps: JSON.stringify(app_ids), from })
    const { calls = 0, ...refused_by } = found ?? { key: 0, attestation: 0, required_assertions: 0 }
    return { calls, refused_by }
  }

  /** Deletes the counts of days more than 800 days ago, inside a unit of work. */
  const expire = (): void => void dropBefore.run(addDays(dayOfUtc(clock()), -KEEP_DAYS))

  return { count, labels, forecast, expire }
}
