/** The command `windfall connect`: asks for one key after the other, and has Apple try each as it is entered. */
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Account } from '../../apps/accounts.ts'
import { counted, harmless } from '../instance/instance.ts'
import { type Answers, type FlagName, NONE } from './answers.ts'
import { type Asking, faultInPurchaseKey, faultOfVendor, tryConnectKey } from './checks.ts'
import type { KeptKey } from './files.ts'
import { type KeyFile, readKeyFile } from './keys.ts'
import {
  faultOfIssuer,
  faultOfKeyId,
  faultOfVendorForm,
  type Places,
  SAME_KEY,
  vendorsIn,
} from './validate.ts'

/** A key, and the file to keep it in; null where the present one stays. */
export type GivenKey = { key: ApiKey; kept: KeptKey | null }

export type Walk = {
  answers: Answers
  asking: Asking
  places: Places
  /** What config.toml says already. */
  present: Pick<Account, 'connect' | 'purchases' | 'vendor_numbers'>
  /** Apps that are known without Apple. */
  bundles: readonly string[]
}

const ASKING = '   Asking Apple …'
const PRESENT = 'the present one'

/** The App Store Connect API key, the apps that it reaches, and the vendor numbers whose reports it may read. */
export async function askConnect(walk: Walk) {
  walk.answers.say(CONNECT)
  for (;;) {
    const given = await askConnectKey(walk)
    const vendor_numbers = await askVendors(walk, given.key)
    if (vendor_numbers !== 'another key') return { ...given, vendor_numbers }
  }
}

const CONNECT = `
1. The App Store Connect API key, for the list of your apps and Apple's sales reports.
   App Store Connect: Users and Access, Integrations, App Store Connect API, Team Keys.
   It needs the role Admin, Finance or Sales.`

async function askConnectKey(walk: Walk): Promise<GivenKey & { apps: AppleApp[] }> {
  const { answers, present } = walk
  for (;;) {
    const path = await answers.get(
      'connect-key',
      'Key file, as in AuthKey_2X9R4HXF34.p8',
      present.connect && PRESENT,
    )
    const given =
      path === PRESENT && present.connect ? presentKey(present.connect) : await newConnectKey(walk, path)
    if (typeof given === 'string') {
      await answers.goOnAfter(given, false)
      continue
    }
    answers.say(ASKING)
    const apps = await tryConnectKey(given.key, walk.asking, walk.bundles)
    if (typeof apps !== 'string') {
      answers.say(`   ✓ Apple takes it. It reaches ${counted(apps.length, 'app')}${namesOf(apps)}`)
      return { ...given, apps }
    }
    if ((await answers.goOnAfter(apps, true)) === 'stay') return { ...given, apps: [] }
  }
}

const presentKey = (key: ApiKey): GivenKey => ({ key, kept: null })
const namesOf = (apps: readonly AppleApp[]): string =>
  apps.length === 0
    ? '.'
    : `: ${apps.map(({ name, bundle_id }) => `${harmless(name)} (${bundle_id})`).join(', ')}.`

async function newConnectKey(walk: Walk, path: string | null): Promise<GivenKey | string> {
  const file = keyFileAt(walk, path)
  if (typeof file === 'string') return file
  const key_id = await idOf(walk, file, 'connect-key-id')
  const question = 'Issuer id (none for an individual key)'
  const issuer = await issuerOf(walk, 'issuer', question, walk.present.connect?.issuer_id)
  return keptKey(file, key_id, issuer, 'AuthKey')
}

async function idOf({ answers }: Walk, file: KeyFile, name: FlagName): Promise<string> {
  for (;;) {
    const id = await answers.get(name, 'Key id', file.guessed_id)
    const fault = faultOfKeyId(id)
    if (fault === null && id !== null) return id
    await answers.goOnAfter(fault ?? 'a key id is needed', false)
  }
}

async function issuerOf(
  { answers }: Walk,
  name: FlagName,
  question: string,
  present: string | null | undefined,
): Promise<string | null> {
  for (;;) {
    const issuer = await answers.get(name, question, present ?? null)
    const fault = faultOfIssuer(issuer)
    if (fault === null) return issuer
    await answers.goOnAfter(fault, false)
  }
}

const keyFileAt = ({ places }: Walk, path: string | null): KeyFile | string =>
  path === null
    ? 'a key file is needed: the .p8 file that Apple gave when the key was made.'
    : readKeyFile(path, places)

const keptKey = (file: KeyFile, key_id: string, issuer_id: string | null, word: string): GivenKey => ({
  key: { key_id, issuer_id, private_key: file.pem },
  kept: { name: `${word}_${key_id}.p8`, pem: file.pem },
})

async function askVendors(
  { answers, asking, present }: Walk,
  key: ApiKey,
): Promise<string[] | 'another key'> {
  const said = present.vendor_numbers.length > 0 ? present.vendor_numbers.join(',') : null
  for (;;) {
    const question =
      'Vendor number, from Payments and Financial Reports (several with commas; none: no reports)'
    const numbers = vendorsIn(await answers.get('vendor', question, said))
    if (numbers.length === 0) {
      answers.say('   Without a vendor number no sales report is fetched.')
      return []
    }
    const unlikely = numbers.map(faultOfVendorForm).find((words) => words !== null)
    if (unlikely !== undefined) {
      await answers.goOnAfter(unlikely, false)
      continue
    }
    answers.say(ASKING)
    const fault = await faultOfVendors(numbers, key, asking)
    if (fault === null) {
      answers.say('   ✓ Apple gives its reports.')
      return numbers
    }
    if ((await answers.goOnAfter(fault.words, true)) === 'stay') return numbers
    if (fault.is_of_key) return 'another key'
  }
}

type VendorFault = { words: string; is_of_key: boolean }

async function faultOfVendors(
  numbers: readonly string[],
  key: ApiKey,
  asking: Asking,
): Promise<VendorFault | null> {
  for (const number of numbers) {
    const fault = await faultOfVendor(key, asking, number)
    if (fault === null) continue
    const is_of_key = ['unauthorized', 'forbidden', 'agreement'].includes(fault.kind)
    return { words: `${number}: ${fault.message}`, is_of_key }
  }
  return null
}

const PURCHASES = `
2. The In-App Purchase key, for what your customers did before today and for what gets lost on the way.
   App Store Connect: Users and Access, Integrations, In-App Purchase.`

/** The In-App Purchase key; null for none. */
export async function askPurchases(walk: Walk, connect: ApiKey): Promise<GivenKey | null> {
  const { answers, present } = walk
  answers.say(PURCHASES)
  for (;;) {
    const question = `Key file, as in SubscriptionKey_ABCDE12345.p8 (${NONE}: only what happens from now on)`
    const path = await answers.get('purchase-key', question, present.purchases && PRESENT)
    if (path === null) return null
    const given =
      path === PRESENT && present.purchases
        ? presentKey(present.purchases)
        : await newPurchaseKey(walk, path, connect)
    if (typeof given === 'string') {
      await answers.goOnAfter(given, false)
      continue
    }
    answers.say(ASKING)
    const problem = await faultInPurchaseKey(given.key, walk.asking, walk.bundles)
    if (problem === null) {
      answers.say('   ✓ Apple takes it.')
      return given
    }
    if ((await answers.goOnAfter(problem, true)) === 'stay') return given
  }
}

async function newPurchaseKey(walk: Walk, path: string, connect: ApiKey): Promise<GivenKey | string> {
  const file = keyFileAt(walk, path)
  if (typeof file === 'string') return file
  if (file.pem.trim() === connect.private_key.trim()) return SAME_KEY
  const key_id = await idOf(walk, file, 'purchase-key-id')
  const issuer = walk.present.purchases?.issuer_id ?? connect.issuer_id
  const issuer_id = await issuerOf(walk, 'purchase-issuer', 'Issuer id', issuer)
  if (issuer_id === null)
    return 'an In-App Purchase key works only with its issuer id, which stands above the list of keys.'
  return keptKey(file, key_id, issuer_id, 'SubscriptionKey')
}
