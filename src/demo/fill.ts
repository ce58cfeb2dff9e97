/** Fills an instance with a simulated history. */
import type { Windfall } from '../app.ts'
import { verifyNotification, verifyTransaction } from '../apple/notification.ts'
import type { Caller } from '../attribution/callers.ts'
import { AttributeCall, IdentifyCall } from '../attribution/requests.ts'
import { parse } from '../http/parse.ts'
import { openBulk } from '../store/bulk.ts'
import type { Step } from './world/steps.ts'

/** The maximum number of steps that are verified before their turn to be written: one or two batches of bulk work. */
const MAX_PENDING = 64

const PROGRESS_EVERY = 64

const NO_ASSERTION = { wasSent: false, counter: null }

/** A clock that is set to the time of each step. */
type SettableClock = { set(at: number): void }

/**
 * Applies `steps` in order as bulk work, with the same verification and units of work as HTTP requests. The clock is
 * set to the time of each step. Calls `onProgress` with the number of applied steps. Resolves with the total.
 *
 * @throws the error of the first failed step; later steps do not run.
 */
export async function fill(
  windfall: Windfall,
  steps: Iterable<Step> | AsyncIterable<Step>,
  clock: SettableClock,
  onProgress: (appliedCount: number, at: number) => void,
): Promise<number> {
  const preparedSteps: Promise<() => unknown>[] = []
  const bulk = openBulk(windfall.store, MAX_PENDING)
  let appliedCount = 0

  async function writeNext(): Promise<void> {
    const work = await preparedSteps.shift()
    if (work) await bulk.add(work)
    appliedCount += 1
  }

  for await (const step of steps) {
    preparedSteps.push(prepareStep(windfall, step, clock))
    if (preparedSteps.length >= MAX_PENDING) await writeNext()
    if (appliedCount % PROGRESS_EVERY === 0) onProgress(appliedCount, step.at)
  }
  while (preparedSteps.length > 0) await writeNext()
  await bulk.finish()
  return appliedCount
}

/** Verifies a step. Resolves with a function that sets the clock and writes the step to the database. */
async function prepareStep(windfall: Windfall, step: Step, clock: SettableClock): Promise<() => unknown> {
  const work = await verifyStep(windfall, step)
  return () => {
    clock.set(step.at)
    return work()
  }
}

async function verifyStep(windfall: Windfall, step: Step): Promise<() => unknown> {
  const { apps, arrivals, attest, attribution, ledger, verifier } = windfall
  if (step.kind === 'notification') {
    const verified = await verifyNotification(verifier, step.body.signedPayload)
    const [app] = apps.byBundle(verified.payload.bundle_id)
    if (!app) return () => arrivals.pending.save(verified, null)
    return () => ledger.apply(app, verified, { origin: 'live', source: 'push' })
  }
  const caller = callerOf(windfall, step.bundle_id)
  if (step.kind === 'identify') {
    const call = parse(IdentifyCall, step.body)
    const unattested = call.platform === 'android' ? 'unsupported' : null
    const accepted = {
      caller,
      endpoint: 'identify',
      app_user_id: call.appUserId,
      assertion: NO_ASSERTION,
    } as const
    return () => attest.accept(accepted, () => attribution.identify(caller, call, unattested))
  }
  const call = parse(AttributeCall, step.body)
  const signed = call.jws === null ? null : await verifyTransaction(verifier, call.jws)
  const unattested = call.store === 'google' ? 'unsupported' : null
  const accepted = {
    caller,
    endpoint: 'attribute',
    app_user_id: call.appUserId,
    assertion: NO_ASSERTION,
  } as const
  return () => attest.accept(accepted, () => attribution.attribute(caller, call, { signed, unattested }).link)
}

function callerOf({ apps }: Windfall, bundle_id: string): Caller {
  const [app] = apps.byBundle(bundle_id)
  if (!app) throw new Error(`the simulated app ${bundle_id} is not connected`)
  return { app, credential: 'none', device: null }
}
