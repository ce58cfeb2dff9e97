/** The simulated SDK calls: identify and attribute. */
import { nextSignedAt } from '../world/announce.ts'
import { type Login, onAndroid, type Person } from '../world/people.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../world/periods.ts'
import type { Random } from '../world/random.ts'
import type { AttributeBody, Scalar } from '../world/steps.ts'
import { type Purchase, transactionOf } from '../world/subscription.ts'
import type { TransactionBody } from '../world/unsigned.ts'
import type { Script, World } from '../world/world.ts'
import { profileOf } from './profiles.ts'

function currentId(login: Login): string {
  return login.logged_in || login.anonymous === null ? login.user_id : login.anonymous
}

/** The bundle id in SDK calls. An Android app sends its package name. */
function bundleOf(person: Person, login: Login): string {
  const { app } = person
  return login.device.platform === 'android' ? (app.android_package ?? app.bundle_id) : app.bundle_id
}

/** Sends POST /identify now. */
function identify(world: World, person: Person, login: Login, attributes: Record<string, Scalar> = {}): void {
  const at = world.now()
  const bundle_id = person.app.bundle_id
  const appUserId = currentId(login)
  const hasAttributes = Object.keys(attributes).length > 0
  world.books.identify(bundle_id, appUserId, login.device, attributes)
  const body = {
    appUserId,
    bundleId: bundleOf(person, login),
    ...login.device,
    ...(hasAttributes && { attributes }),
  }
  world.deliver({ kind: 'identify', at, bundle_id, body, proof: null })
}

/** The transaction as the device has it, with the fields that bind it to this device. */
function deviceCopy(world: World, purchase: Purchase, random: Random): TransactionBody {
  const signed = transactionOf(purchase.sale, purchase.person, nextSignedAt(world, purchase.person))
  const deviceVerification = Buffer.from(random.hex(96), 'hex').toString('base64')
  return { ...signed, deviceVerification, deviceVerificationNonce: random.uuid() }
}

/** Sends POST /attribute now: the user of a transaction, with or without the signed transaction as proof. */
function attribute(world: World, purchase: Purchase, app_user_id: string, withProof: boolean): void {
  const { person, sale } = purchase
  const at = world.now()
  const bundle_id = person.app.bundle_id
  const proof = withProof ? ('purchase' as const) : null
  const transaction_id = sale.originalTransactionId
  world.books.claim({ at, bundle_id, store: 'apple', transaction_id, app_user_id, proof })
  const body: AttributeBody = {
    appUserId: app_user_id,
    bundleId: bundle_id,
    originalTransactionId: transaction_id,
    productId: sale.productId,
    platform: 'ios',
  }
  const payload = withProof ? deviceCopy(world, purchase, person.random) : undefined
  world.deliver({ kind: 'attribute', at, bundle_id, body, payload, proof })
}

/** Later, a second account claims the same transaction, as on a shared phone. */
function* secondAccountScript(world: World, purchase: Purchase): Script {
  const { random } = purchase.person
  yield world.now() + random.between(1, 30) * DAY_MS
  attribute(world, purchase, `${purchase.person.login?.user_id}-2`, random.chance(0.3))
}

/** An anonymous customer logs in. The SDK identifies the user and attributes the purchase again under the new id. */
function* logInScript(world: World, purchase: Purchase, login: Login, withProof: boolean): Script {
  const { person } = purchase
  yield world.now() + person.random.between(0.5, 300) * HOUR_MS
  if (!login.logged_in) {
    login.logged_in = true
    identify(world, person, login, attributesOf(world, purchase))
    yield world.now() + person.random.whole(1, 8) * SECOND_MS
  }
  attribute(world, purchase, login.user_id, withProof)
}

function attributesOf(world: World, purchase: Purchase): Record<string, Scalar> {
  const { random } = purchase.person
  return {
    ...profileOf(purchase.person),
    plan: purchase.sale.productId.split('.')[1] ?? '',
    cohort: new Date(world.now()).toISOString().slice(0, 7),
    onboarding: random.pick(['short', 'long']),
    ...(random.chance(0.3) && { sessions: random.whole(1, 60) }),
    ...(random.chance(0.2) && { newsletter: random.chance(0.5) }),
    ...(random.chance(0.1) && { referrer: null }),
  }
}

/**
 * The SDK calls after a purchase. The SDK attributes the purchase to the current user id, either immediately (before
 * Apple's notification arrives) or when the app is opened again. About half of the calls have the signed transaction.
 */
export function* reportPurchase(world: World, person: Person, purchase: Purchase): Script {
  const { login, random } = person
  if (login === null) return
  const delay_ms = random.chance(0.4) ? random.between(1, 2_000) * MINUTE_MS : random.whole(100, 3_000)
  yield world.now() + delay_ms
  const withProof = random.chance(0.5)
  attribute(world, purchase, currentId(login), withProof)
  if (random.chance(0.5)) {
    yield world.now() + random.whole(1, 20) * SECOND_MS
    identify(world, person, login, attributesOf(world, purchase))
  }
  if (!login.logged_in && random.chance(0.8)) world.start(logInScript(world, purchase, login, withProof))
  if (random.chance(world.edgeCases ? 0.2 : 0.02)) world.start(secondAccountScript(world, purchase))
}

/** The first launch of the app. Identifies users with an account, and some anonymous users. */
export function reportFirstLaunch(world: World, person: Person): void {
  const { login, random } = person
  if (login !== null && (login.logged_in || random.chance(0.3)))
    identify(world, person, login, profileOf(person))
}

/** An Android user: the app reports Google's purchase token, which Apple does not know. */
export function* androidScript(world: World, person: Person): Script {
  const { random, app } = person
  if (person.login === null) return
  const login = onAndroid(person, person.login)
  identify(world, person, login, { store: 'google' })
  yield world.now() + random.between(0.5, 60) * MINUTE_MS
  const token = `${random.hex(24).replace(/\d/g, 'k')}.AO-J1O${random.hex(60)}`
  const app_user_id = currentId(login)
  const { now, books } = world
  books.claim({
    at: now(),
    bundle_id: app.bundle_id,
    store: 'google',
    transaction_id: token,
    app_user_id,
    proof: null,
  })
  const transactionField = random.chance(0.5) ? { originalTransactionId: token } : { purchaseToken: token }
  const body: AttributeBody = {
    appUserId: app_user_id,
    bundleId: bundleOf(person, login),
    ...transactionField,
    ...(random.chance(0.7) && { productId: `${app.plans[0]?.product_id}` }),
    platform: 'android',
  }
  world.deliver({ kind: 'attribute', at: now(), bundle_id: app.bundle_id, body, proof: null })
}
