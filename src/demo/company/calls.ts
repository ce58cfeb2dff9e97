/** The simulated SDK calls: identify and attribute. */
import { nextSignedAt } from '../world/announce.ts'
import { type Login, onAndroid, type Person } from '../world/people.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../world/periods.ts'
import type { Random } from '../world/random.ts'
import type { AttributeBody, Scalar } from '../world/steps.ts'
import { type Purchase, transactionOf } from '../world/subscription.ts'
import type { TransactionBody } from '../world/unsigned.ts'
import type { Script, World } from '../world/world.ts'

function currentId(login: Login): string {
  return login.logged_in || login.anonymous === null ? login.user_id : login.anonymous
}

/** An Android app goes by its own package name. */
function bundleOf(person: Person, login: Login): string {
  const { app } = person
  return login.device.platform === 'android' ? (app.android_package ?? app.bundle_id) : app.bundle_id
}

/** POST identify, now. */
function identify(world: World, person: Person, login: Login, attributes: Record<string, Scalar> = {}): void {
  const at = world.now()
  const bundle_id = person.app.bundle_id
  const appUserId = currentId(login)
  const named = Object.keys(attributes).length > 0
  world.books.identify(bundle_id, appUserId, login.device, attributes)
  const body = { appUserId, bundleId: bundleOf(person, login), ...login.device, ...(named && { attributes }) }
  world.deliver({ kind: 'identify', at, bundle_id, body, proof: null })
}

/** What the device holds: the transaction, signed for this device. */
function deviceCopy(world: World, bought: Purchase, random: Random): TransactionBody {
  const signed = transactionOf(bought.sale, bought.person, nextSignedAt(world, bought.person))
  const deviceVerification = Buffer.from(random.hex(96), 'hex').toString('base64')
  return { ...signed, deviceVerification, deviceVerificationNonce: random.uuid() }
}

/** POST attribute, now: this transaction is this user's, with the signed transaction as proof or without. */
function attribute(world: World, bought: Purchase, app_user_id: string, withProof: boolean): void {
  const { person, sale } = bought
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
  const payload = withProof ? deviceCopy(world, bought, person.random) : undefined
  world.deliver({ kind: 'attribute', at, bundle_id, body, payload, proof })
}

/** Now and then the same transaction is claimed from another account, on a borrowed or shared phone. */
function* secondAccountScript(world: World, bought: Purchase): Script {
  const { random } = bought.person
  yield world.now() + random.between(1, 30) * DAY
  attribute(world, bought, `${bought.person.login?.user_id}-2`, random.chance(0.3))
}

/** An anonymous customer logs in: identified, and what was reported before is reported again under the new id. */
function* logInScript(world: World, bought: Purchase, login: Login, withProof: boolean): Script {
  const { person } = bought
  yield world.now() + person.random.between(0.5, 300) * HOUR
  if (!login.logged_in) {
    login.logged_in = true
    identify(world, person, login, attributesOf(world, bought))
    yield world.now() + person.random.whole(1, 8) * SECOND
  }
  attribute(world, bought, login.user_id, withProof)
}

function attributesOf(world: World, bought: Purchase): Record<string, Scalar> {
  const { random } = bought.person
  return {
    plan: bought.sale.productId.split('.').at(-1) ?? '',
    cohort: new Date(world.now()).toISOString().slice(0, 7),
    onboarding: random.pick(['short', 'long']),
    ...(random.chance(0.3) && { sessions: random.whole(1, 60) }),
    ...(random.chance(0.2) && { newsletter: random.chance(0.5) }),
    ...(random.chance(0.1) && { referrer: null }),
  }
}

/**
 * What the SDK does about a purchase: it attributes it to the id it has, at once (before Apple's notification
 * arrives) or when the app is opened again, about half the time with the signed transaction.
 */
export function* reportPurchase(world: World, person: Person, bought: Purchase): Script {
  const { login, random } = person
  if (login === null) return
  const later = random.chance(0.4) ? random.between(1, 2_000) * MINUTE : random.whole(100, 3_000)
  yield world.now() + later
  const withProof = random.chance(0.5)
  attribute(world, bought, currentId(login), withProof)
  if (random.chance(0.5)) {
    yield world.now() + random.whole(1, 20) * SECOND
    identify(world, person, login, attributesOf(world, bought))
  }
  if (!login.logged_in && random.chance(0.8)) world.start(logInScript(world, bought, login, withProof))
  if (random.chance(world.edgeCases ? 0.2 : 0.02)) world.start(secondAccountScript(world, bought))
}

/** The app's first start: those with an account are identified, some of the others under their anonymous id. */
export function reportFirstLaunch(world: World, person: Person): void {
  const { login, random } = person
  if (login !== null && (login.logged_in || random.chance(0.3))) identify(world, person, login)
}

/** An Android user: the app reports Google's purchase token, which Apple does not know. */
export function* androidScript(world: World, person: Person): Script {
  const { random, app } = person
  if (person.login === null) return
  const login = onAndroid(person, person.login)
  identify(world, person, login, { store: 'google' })
  yield world.now() + random.between(0.5, 60) * MINUTE
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
  const named = random.chance(0.5) ? { originalTransactionId: token } : { purchaseToken: token }
  const body: AttributeBody = {
    appUserId: app_user_id,
    bundleId: bundleOf(person, login),
    ...named,
    ...(random.chance(0.7) && { productId: `${app.plans[0]?.product_id}` }),
    platform: 'android',
  }
  world.deliver({ kind: 'attribute', at: now(), bundle_id: app.bundle_id, body, proof: null })
}
