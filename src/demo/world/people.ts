/** The simulated customers: their countries, holdings and ids. */
import type { Environment } from '../../apple/payloads.ts'
import { APPS } from './catalogue.ts'
import { DAY_MS } from './periods.ts'
import type { App } from './products.ts'
import type { Random } from './random.ts'
import { STOREFRONTS, type Storefront } from './storefronts.ts'

/** The user account of a customer in an app with the SDK. */
export type Login = {
  user_id: string
  /** The user id in SDK calls until the customer logs in; null if the customer is logged in from the start. */
  anonymous: string | null
  logged_in: boolean
  device: { platform: string; osVersion: string; deviceModel: string; locale: string }
}

export type Person = {
  id: string
  random: Random
  app: App
  environment: Environment
  storefront: Storefront
  account_token: string | null
  app_transaction_id: string
  /** From this instant on, the store adds the appTransactionId to the payloads that it signs for this customer. */
  app_transaction_id_since: number
  /** Pays and never cancels, for events that need an active subscriber. */
  steady: boolean
  login: Login | null
  /** The instant of the customer's last signature. No two signatures for a customer have the same instant. */
  signed_at: number
}

/** The parts of the world that creating a customer needs. */
type PersonContext = { now: () => number; random: Random; edgeCases: boolean }

type PersonOptions = {
  app?: App
  environment?: Environment
  storefront?: Storefront
  steady?: boolean
  silent?: boolean
  account_token?: string | null
}

const SHARED_TOKEN = '5eed0000-0000-4000-8000-00000000c0de'
const PHONES = [
  'iPhone13,2',
  'iPhone14,5',
  'iPhone15,2',
  'iPhone15,4',
  'iPhone16,1',
  'iPhone17,3',
  'iPad14,3',
]
const SYSTEMS = ['16.7.10', '17.5.1', '17.6.1', '18.1', '18.3.2', '18.5', '26.0']
const ANDROIDS = ['Pixel 7', 'Pixel 8 Pro', 'SM-S921B', 'SM-A546E']

function accountTokenFor(app: App, random: Random): string | null {
  const ownToken = random.uuid()
  if (app.account_tokens === 'none' || random.chance(0.25)) return null
  return app.account_tokens === 'hard_coded' ? SHARED_TOKEN : ownToken
}

function userId(app: App, random: Random): string {
  const number = random.whole(10_000, 9_999_999)
  if (app.account_tokens === 'per_user') return `user_${number}`
  return app.account_tokens === 'none' ? random.uuid() : `auth0|${random.hex(24)}`
}

function openLogin(app: App, storefront: Storefront, random: Random, edgeCases: boolean): Login {
  const anonymous = random.chance(edgeCases ? 0.5 : 0.35) ? `$anon_${random.uuid()}` : null
  return {
    user_id: userId(app, random),
    anonymous,
    logged_in: anonymous === null,
    device: {
      platform: 'ios',
      osVersion: random.pick(SYSTEMS),
      deviceModel: random.pick(PHONES),
      locale: storefront.locale,
    },
  }
}

/** The customer's login on an Android phone. */
export function onAndroid(person: Person, login: Login): Login {
  const { random } = person
  const device = {
    platform: 'android',
    osVersion: random.pick(['13', '14', '15']),
    deviceModel: random.pick(ANDROIDS),
  }
  return { ...login, device: { ...login.device, ...device } }
}

/** From when on payloads contain a customer's appTransactionId: mostly always, for some later, for a few never. */
function appTransactionIdSince(world: PersonContext, random: Random): number {
  const roll = random.fraction()
  if (roll < 0.03) return Infinity
  const late = roll < (world.edgeCases ? 0.55 : 0.25)
  return late ? world.now() + random.between(20, world.edgeCases ? 120 : 300) * DAY_MS : -Infinity
}

/** Creates a customer. `name` must be unique; the same name and seed give the same customer. */
export function openPerson(world: PersonContext, name: string, options: PersonOptions = {}): Person {
  const random = world.random.fork(`person/${name}`)
  const app = options.app ?? random.weighted(APPS)
  const storefront = options.storefront ?? random.weighted(STOREFRONTS)
  const token = accountTokenFor(app, random)
  return {
    id: name,
    random,
    app,
    environment: options.environment ?? 'production',
    storefront,
    account_token: options.account_token === undefined ? token : options.account_token,
    app_transaction_id: `70${random.whole(1_000_000_000, 9_999_999_999)}${random.whole(100_000, 999_999)}`,
    app_transaction_id_since: appTransactionIdSince(world, random),
    steady: options.steady ?? false,
    login:
      options.silent !== true && random.chance(0.6)
        ? openLogin(app, storefront, random, world.edgeCases)
        : null,
    signed_at: 0,
  }
}

/** Creates a family member with ids of their own, the purchaser's storefront, and no account in the app. */
export function familyMember(world: PersonContext, purchaser: Person, number: number): Person {
  const random = purchaser.random.fork(`member/${number}`)
  return {
    ...purchaser,
    id: `${purchaser.id}.${number}`,
    random,
    account_token: null,
    app_transaction_id: `71${random.whole(1_000_000_000, 9_999_999_999)}${random.whole(100_000, 999_999)}`,
    app_transaction_id_since: appTransactionIdSince(world, random),
    login: null,
    signed_at: 0,
  }
}
