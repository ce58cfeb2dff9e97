/** Fills an instance with a simulated history. */
import type { Windfall } from '../app.ts'
import { verifyNotification, verifyTransaction } from '../apple/notification.ts'
import type { Caller } from '../attribution/callers.ts'
import { AttributeCall, IdentifyCall } from '../attribution/requests.ts'
import { parse } from '../http/parse.ts'
import { openBulk } from '../store/bulk.ts'
import type { Step } from './world/steps.ts'

/** Steps that are proved ahead of what is being written: as many as a batch or two of bulk work hold. */
const MAX_PENDING = 64

const PROGRESS_EVERY = 64

/** A clock that is set to the time of each step. */
type SettableClock = { set(at: number): void }

/**
 * Applies `steps` in order, each at its own time, through the same verification and units of work as HTTP requests, as
 * bulk work. Calls `onProgress` now and then with the number of applied steps. Resolves with their total.
 *
 * @throws the error of the first failed step; later steps do not run.
 */
export async function fill(
  windfall: Windfall,
  steps: Iterable<Step> | AsyncIterable<Step>,
  clock: SettableClock,
  onProgress: (done: number, at: number) => void,
): Promise<number> {
  const pending: Promise<() => unknown>[] = []
  const bulk = openBulk(windfall.store, MAX_PENDING)
  let done = 0

  async function writeNext(): Promise<void> {
    const work = await pending.shift()
    if (work) await bulk.add(work)
    done += 1
  }

  for await (const step of steps) {
    pending.push(prepareStep(windfall, step, clock))
    if (pending.length >= MAX_PENDING) await writeNext()
    if (done % PROGRESS_EVERY === 0) onProgress(done, step.at)
  }
  while (pending.length > 0) await writeNext()
  await bulk.finish()
  return done
}

/** The database writes of a step, after all verification. */
async function prepareStep(windfall: Windfall, step: Step, clock: SettableClock): Promise<() => unknown> {
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
    if (!app) return () => arrivals.pending.save(verified, null)
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
