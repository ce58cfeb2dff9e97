/** The history behind the documented examples of bodies: at least one event of each type that Apple causes. */
import { CANCELLED, expire, renew } from '../../../src/demo/company/billing.ts'
import { declineRefund, refund, reverseRefund } from '../../../src/demo/company/refunds.ts'
import type { Signing } from '../../../src/demo/signing/signatures.ts'
import { appFields, notifyTransaction, send } from '../../../src/demo/world/announce.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import { buyGood, subscribe } from '../../../src/demo/world/charge.ts'
import { familyMember, openPerson } from '../../../src/demo/world/people.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, wholeSecond } from '../../../src/demo/world/periods.ts'
import { type Step, signStep } from '../../../src/demo/world/steps.ts'
import { type OwnedGood, periodEnd, type Subscription } from '../../../src/demo/world/subscription.ts'
import { openWorld, type Script, type World } from '../../../src/demo/world/world.ts'
import { oneOfEachNotification } from '../../demo/every_notification.ts'

/** A trial, and what its customer does when it ends. */
function* trial(world: World, name: string, atEnd: (sub: Subscription) => void): Script {
  const plans = APPS.flatMap((app) => app.plans.map((plan) => ({ app, plan })))
  const found = plans.find(({ plan }) => plan.introductory?.discount === 'FREE_TRIAL')
  if (found === undefined) return
  const { app, plan } = found
  yield world.now() + HOUR_MS
  const sub = subscribe(world, openPerson(world, name, { app, steady: true }), plan, plan.introductory)
  yield periodEnd(sub) + MINUTE_MS
  atEnd(sub)
}

/** A one-time purchase, and what follows it, an hour apart. */
function* purchase(world: World, name: string, then: readonly ((good: OwnedGood) => void)[]): Script {
  const app = APPS.find(({ goods }) => goods.length > 0)
  const [good] = app?.goods ?? []
  if (app === undefined || good === undefined) return
  yield world.now() + HOUR_MS
  const owned = buyGood(world, openPerson(world, name, { app, steady: true }), good)
  for (const act of then) {
    yield world.now() + HOUR_MS
    act(owned)
  }
}

/** A family member gets a purchase, and loses it again. */
function shareAndRevoke(world: World, { person, good }: OwnedGood): void {
  const shared = buyGood(world, familyMember(world, person, 1), good, { shared: true })
  world.update(shared.sale, () => {
    const revocationDate = wholeSecond(world.now())
    Object.assign(shared.sale, { revocationDate, revocationReason: 0, revocationType: 'FAMILY_REVOKE' })
  })
  notifyTransaction(world, shared, 'REVOKE', null)
}

/** The steps of the history, in order, from `from` (milliseconds) on. No SDK calls. */
export function exampleHistory({ from, authority }: { from: number; authority: Signing }): Step[] {
  const world = openWorld({ seed: 3, from, edgeCases: false, punctual: true })
  world.start(trial(world, 'example/convert', (sub) => renew(world, sub)))
  world.start(trial(world, 'example/cancel', (sub) => expire(world, sub, CANCELLED)))
  world.start(
    purchase(world, 'example/good', [
      (good) => declineRefund(world, good),
      (good) => refund(world, good, 50_000),
      (good) => reverseRefund(world, good),
      (good) => shareAndRevoke(world, good),
    ]),
  )
  const [app] = APPS
  if (app !== undefined) {
    const sender = { bundle_id: app.bundle_id, environment: 'production' as const, signed_at: from }
    send(world, sender, 'TYPE_ADDED_LATER', null, { data: appFields(app, 'production') })
  }
  const drafts = [...world.run(from + 40 * DAY_MS)]
  const more = drafts.map((draft) => signStep(draft, authority.sign))
  const each = oneOfEachNotification({ seed: 1, from: from + 60 * DAY_MS, authority })
  return [...more, ...each.steps]
}
