/** The questions of `windfall connect`: asks for each key and tests it with Apple. */
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Account } from '../../apps/accounts.ts'
import { plural, stripControls } from '../instance/instance.ts'
import { type Answers, type FlagName, NONE } from './answers.ts'
import { type AppleQueryOptions, faultInPurchaseKey, faultOfVendor, tryConnectKey } from './checks.ts'
import type { SavedKey } from './files.ts'
import { type KeyFile, readKeyFile } from './keys.ts'
import {
  faultOfIssuer,
  faultOfKeyId,
  faultOfVendorForm,
  type PathOptions,
  SAME_KEY,
  vendorsIn,
} from './validate.ts'

/** A key, and the file to store it in; null if the current file stays. */
export type GivenKey = { key: ApiKey; saved: SavedKey | null }

export type ConnectContext = {
  answers: Answers
  apple: AppleQueryOptions
  places: PathOptions
  /** What config.toml already contains. */
  present: Pick<Account, 'connect' | 'purchases' | 'vendor_numbers'>
  /** Apps that are declared in the configuration. */
  bundles: readonly string[]
}

const QUERYING_APPLE = '   Testing with Apple …'
const PRESENT_VALUE = 'the current one'

/** The App Store Connect API key, the apps that it can access, and the vendor numbers whose reports it can read. */
export async function askConnect(context: ConnectContext) {
  context.answers.say(CONNECT)
  for (;;) {
    const given = await askConnectKey(context)
    const vendor_numbers = await askVendors(context, given.key)
    if (vendor_numbers !== 'another key') return { ...given, vendor_numbers }
  }
}

const CONNECT = `
1. The App Store Connect API key, to read your apps and Apple's sales reports.
   App Store Connect: Users and Access, Integrations, App Store Connect API, Team Keys.
   It needs the role Admin, Finance or Sales.`

async function askConnectKey(context: ConnectContext): Promise<GivenKey & { apps: AppleApp[] }> {
  const { answers, present } = context
  for (;;) {
    const path = await answers.get(
      'connect-key',
      'Key file, such as AuthKey_2X9R4HXF34.p8',
      present.connect && PRESENT_VALUE,
    )
    const given =
      path === PRESENT_VALUE && present.connect
        ? presentKey(present.connect)
        : await newConnectKey(context, path)
    if (typeof given === 'string') {
      await answers.afterProblem(given, false)
      continue
    }
    answers.say(QUERYING_APPLE)
    const apps = await tryConnectKey(given.key, context.apple, context.bundles)
    if (typeof apps !== 'string') {
      answers.say(`   ✓ Apple accepts the key. It can access ${plural(apps.length, 'app')}${namesOf(apps)}`)
      return { ...given, apps }
    }
    if ((await answers.afterProblem(apps, true)) === 'stay') return { ...given, apps: [] }
  }
}

const presentKey = (key: ApiKey): GivenKey => ({ key, saved: null })
const namesOf = (apps: readonly AppleApp[]): string =>
  apps.length === 0
    ? '.'
    : `: ${apps.map(({ name, bundle_id }) => `${stripControls(name)} (${bundle_id})`).join(', ')}.`

async function newConnectKey(context: ConnectContext, path: string | null): Promise<GivenKey | string> {
  const file = keyFileAt(context, path)
  if (typeof file === 'string') return file
  const key_id = await idOf(context, file, 'connect-key-id')
  const question = 'Issuer id (none for an individual key)'
  const issuer = await issuerOf(context, 'issuer', question, context.present.connect?.issuer_id)
  return givenKeyOf(file, key_id, issuer, 'AuthKey')
}

async function idOf({ answers }: ConnectContext, file: KeyFile, name: FlagName): Promise<string> {
  for (;;) {
    const id = await answers.get(name, 'Key id', file.guessed_id)
    const fault = faultOfKeyId(id)
    if (fault === null && id !== null) return id
    await answers.afterProblem(fault ?? 'a key id is required', false)
  }
}

async function issuerOf(
  { answers }: ConnectContext,
  name: FlagName,
  question: string,
  present: string | null | undefined,
): Promise<string | null> {
  for (;;) {
    const issuer = await answers.get(name, question, present ?? null)
    const fault = faultOfIssuer(issuer)
    if (fault === null) return issuer
    await answers.afterProblem(fault, false)
  }
}

const keyFileAt = ({ places }: ConnectContext, path: string | null): KeyFile | string =>
  path === null
    ? 'a key file is required: the .p8 file that you downloaded when you created the key.'
    : readKeyFile(path, places)

const givenKeyOf = (file: KeyFile, key_id: string, issuer_id: string | null, word: string): GivenKey => ({
  key: { key_id, issuer_id, private_key: file.pem },
  saved: { name: `${word}_${key_id}.p8`, pem: file.pem },
})

async function askVendors(
  { answers, apple, present }: ConnectContext,
  key: ApiKey,
): Promise<string[] | 'another key'> {
  const presentNumbers = present.vendor_numbers.length > 0 ? present.vendor_numbers.join(',') : null
  for (;;) {
    const question =
      'Vendor number, from Payments and Financial Reports (comma-separated if several; none: no reports)'
    const numbers = vendorsIn(await answers.get('vendor', question, presentNumbers))
    if (numbers.length === 0) {
      answers.say('   Without a vendor number, Windfall does not import sales reports.')
      return []
    }
    const unlikely = numbers.map(faultOfVendorForm).find((words) => words !== null)
    if (unlikely !== undefined) {
      await answers.afterProblem(unlikely, false)
      continue
    }
    answers.say(QUERYING_APPLE)
    const fault = await faultOfVendors(numbers, key, apple)
    if (fault === null) {
      answers.say('   ✓ Apple provides the reports.')
      return numbers
    }
    if ((await answers.afterProblem(fault.words, true)) === 'stay') return numbers
    if (fault.isOfKey) return 'another key'
  }
}

type VendorFault = { words: string; isOfKey: boolean }

async function faultOfVendors(
  numbers: readonly string[],
  key: ApiKey,
  apple: AppleQueryOptions,
): Promise<VendorFault | null> {
  for (const number of numbers) {
    const fault = await faultOfVendor(key, apple, number)
    if (fault === null) continue
    const isOfKey = ['unauthorized', 'forbidden', 'agreement'].includes(fault.kind)
    return { words: `${number}: ${fault.message}`, isOfKey }
  }
  return null
}

const PURCHASES = `
2. The In-App Purchase key, to read your customers' history and recover lost notifications.
   App Store Connect: Users and Access, Integrations, In-App Purchase.`

/** The In-App Purchase key; null for none. */
export async function askPurchases(context: ConnectContext, connect: ApiKey): Promise<GivenKey | null> {
  const { answers, present } = context
  answers.say(PURCHASES)
  for (;;) {
    const question = `Key file, such as SubscriptionKey_ABCDE12345.p8 (${NONE}: no history)`
    const path = await answers.get('purchase-key', question, present.purchases && PRESENT_VALUE)
    if (path === null) return null
    const given =
      path === PRESENT_VALUE && present.purchases
        ? presentKey(present.purchases)
        : await newPurchaseKey(context, path, connect)
    if (typeof given === 'string') {
      await answers.afterProblem(given, false)
      continue
    }
    answers.say(QUERYING_APPLE)
    const problem = await faultInPurchaseKey(given.key, context.apple, context.bundles)
    if (problem === null) {
      answers.say('   ✓ Apple accepts the key.')
      return given
    }
    if ((await answers.afterProblem(problem, true)) === 'stay') return given
  }
}

async function newPurchaseKey(
  context: ConnectContext,
  path: string,
  connect: ApiKey,
): Promise<GivenKey | string> {
  const file = keyFileAt(context, path)
  if (typeof file === 'string') return file
  if (file.pem.trim() === connect.private_key.trim()) return SAME_KEY
  const key_id = await idOf(context, file, 'purchase-key-id')
  const issuer = context.present.purchases?.issuer_id ?? connect.issuer_id
  const issuer_id = await issuerOf(context, 'purchase-issuer', 'Issuer id', issuer)
  if (issuer_id === null)
    return 'an In-App Purchase key requires its issuer id, which is shown above the list of keys.'
  return givenKeyOf(file, key_id, issuer_id, 'SubscriptionKey')
}
