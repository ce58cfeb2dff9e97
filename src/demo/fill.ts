/** What we remember: a simulated history, played into an instance as if it had been there all the time. */

import type { Windfall } from '../app.ts'
import { verifyNotification, verifyTransaction } from '../apple/notification.ts'
import type { Caller } from '../attribution/callers.ts'
import { AttributeCall, IdentifyCall } from '../attribution/requests.ts'
import { parse } from '../http/parse.ts'
import type { Step } from './steps.ts'

/** How many signatures are checked ahead of what is being written. */
const AHEAD = 128

/** A clock that stands where the history is. */
type PlayedClock = { set(at: number): void }

/**
 * Plays `steps` in order, each at its own time, through the same verification and the same units of work as HTTP.
 * `told` is called after each with how many are done.
 */
export async function fill(
  windfall: Windfall,
  steps: Iterable<Step>,
  clock: PlayedClock,
  told: (done: number, at: number) => void,
): Promise<number> {
  const underWay: Promise<() => unknown>[] = []
  let done = 0
  let written: Promise<unknown> = Promise.resolve()

  async function writeNext(): Promise<void> {
    const work = await underWay.shift()
    if (work) written = windfall.store.commit(work)
    done += 1
  }

  for (const step of steps) {
    underWay.push(prepared(windfall, step, clock))
    if (underWay.length >= AHEAD) await writeNext()
    if (done % 64 === 0) {
      await written
      told(done, step.at)
    }
  }
  while (underWay.length > 0) await writeNext()
  await written
  return done
}

/** What a step does to the database, once everything about it is proved. */
async function prepared(windfall: Windfall, step: Step, clock: PlayedClock): Promise<() => unknown> {
  const work = await workOf(windfall, step)
  return () => {
    clock.set(step.at)
    return work()
  }
}

async function workOf(windfall: Windfall, step: Step): Promise<() => unknown> {
  const { apps, arrivals, attribution, ledger, verifier } = windfall
  if (step.kind === 'notification') {
    const verified = await verifyNotification(verifier, step.body.signedPayload)
    const [app] = apps.byBundle(verified.payload.bundle_id)
    if (!app) return () => arrivals.pending.keep(verified, null)
    return () => ledger.apply(app, verified, { origin: 'live', source: 'push' })
  }
  const caller = callerOf(windfall, step.bundle_id)
  if (step.kind === 'identify') {
    const call = parse(IdentifyCall, step.body)
    return () => attribution.identify(caller, call, null)
  }
  const call = parse(AttributeCall, step.body)
  const signed = call.jws === null ? null : await verifyTransaction(verifier, call.jws)
  return () => attribution.attribute(caller, call, { signed, unattested: null })
}

function callerOf({ apps }: Windfall, bundle_id: string): Caller {
  const [app] = apps.byBundle(bundle_id)
  if (!app) throw new Error(`the simulated app ${bundle_id} is not connected`)
  return { app, credential: 'none' }
}
