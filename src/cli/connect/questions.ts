/** Prompts for each key in `windfall connect` and tests it with Apple. */
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Account } from '../../apps/accounts.ts'
import {
  faultOfIssuer,
  faultOfKeyId,
  faultOfPurchaseIssuer,
  faultOfVendorNumber,
  faultOfVendors,
  isSameKey,
  KEY_ID_NEEDED,
  SAME_KEY,
} from '../../doctor/apple/key_answers.ts'
import { type AppleQueryOptions, problemOfPurchaseKey, tryConnectKey } from '../../doctor/apple/key_checks.ts'
import { plural, stripControls } from '../instance/instance.ts'
import { type Answers, type FlagName, NONE } from './answers.ts'
import type { KeyFileToWrite } from './files.ts'
import { type KeyFile, readKeyFile } from './keys.ts'
import { type PathOptions, vendorsIn } from './validate.ts'

/** A key, and the file to write it to. `toWrite` is null if the key is already configured. */
export type ChosenKey = { key: ApiKey; toWrite: KeyFileToWrite | null }

export type ConnectContext = {
  answers: Answers
  apple: AppleQueryOptions
  pathOptions: PathOptions
  /** The keys and vendor numbers that config.toml already contains. */
  current: Pick<Account, 'connect' | 'purchases' | 'vendor_numbers'>
  /** Apps that are declared in the configuration. */
  bundles: readonly string[]
}

const QUERYING_APPLE = '   Testing with Apple …'
const CURRENT_VALUE = 'the current one'

/** Prompts for the App Store Connect API key and the vendor numbers. Also returns the apps that the key can access. */
export async function askConnect(context: ConnectContext) {
  context.answers.print(CONNECT_INTRODUCTION)
  for (;;) {
    const given = await askConnectKey(context)
    const vendor_numbers = await askVendors(context, given.key)
    if (vendor_numbers !== 'another key') return { ...given, vendor_numbers }
  }
}

const CONNECT_INTRODUCTION = `
1. The App Store Connect API key, to read your apps and Apple's sales reports.
   App Store Connect: Users and Access, Integrations, App Store Connect API, Team Keys.
   It needs the role Admin, Finance or Sales.`

async function askConnectKey(context: ConnectContext): Promise<ChosenKey & { apps: AppleApp[] }> {
  const { answers, current } = context
  for (;;) {
    const path = await answers.get(
      'connect-key',
      'Key file, such as AuthKey_2X9R4HXF34.p8',
      current.connect && CURRENT_VALUE,
    )
    const given =
      path === CURRENT_VALUE && current.connect
        ? keepKey(current.connect)
        : await newConnectKey(context, path)
    if (typeof given === 'string') {
      await answers.afterProblem(given, false)
      continue
    }
    answers.print(QUERYING_APPLE)
    const apps = await tryConnectKey(given.key, context.apple, context.bundles)
    if (!('message' in apps)) {
      answers.print(`   ✓ Apple accepts the key. It can access ${plural(apps.length, 'app')}${namesOf(apps)}`)
      return { ...given, apps }
    }
    if ((await answers.afterProblem(apps.message, true)) === 'keep') return { ...given, apps: [] }
  }
}

const keepKey = (key: ApiKey): ChosenKey => ({ key, toWrite: null })
const namesOf = (apps: readonly AppleApp[]): string =>
  apps.length === 0
    ? '.'
    : `: ${apps.map(({ name, bundle_id }) => `${stripControls(name)} (${bundle_id})`).join(', ')}.`

async function newConnectKey(context: ConnectContext, path: string | null): Promise<ChosenKey | string> {
  const file = keyFileAt(context, path)
  if (typeof file === 'string') return file
  const key_id = await askKeyId(context, file, 'connect-key-id')
  const question = 'Issuer id (none for an individual key)'
  const issuer = await askIssuer(context, 'issuer', question, context.current.connect?.issuer_id)
  return newKeyFrom(file, key_id, issuer, 'AuthKey')
}

async function askKeyId({ answers }: ConnectContext, file: KeyFile, name: FlagName): Promise<string> {
  for (;;) {
    const id = await answers.get(name, 'Key id', file.guessed_id)
    const fault = id === null ? KEY_ID_NEEDED : faultOfKeyId(id)
    if (fault === null && id !== null) return id
    await answers.afterProblem(fault ?? KEY_ID_NEEDED, false)
  }
}

async function askIssuer(
  { answers }: ConnectContext,
  name: FlagName,
  question: string,
  current: string | null | undefined,
): Promise<string | null> {
  for (;;) {
    const issuer = await answers.get(name, question, current ?? null)
    const fault = faultOfIssuer(issuer)
    if (fault === null) return issuer
    await answers.afterProblem(fault, false)
  }
}

const keyFileAt = ({ pathOptions }: ConnectContext, path: string | null): KeyFile | string =>
  path === null
    ? 'a key file is required: the .p8 file that you downloaded when you created the key.'
    : readKeyFile(path, pathOptions)

const newKeyFrom = (
  file: KeyFile,
  key_id: string,
  issuer_id: string | null,
  namePrefix: string,
): ChosenKey => ({
  key: { key_id, issuer_id, private_key: file.pem },
  toWrite: { name: `${namePrefix}_${key_id}.p8`, pem: file.pem },
})

async function askVendors(
  { answers, apple, current }: ConnectContext,
  key: ApiKey,
): Promise<string[] | 'another key'> {
  const currentNumbers = current.vendor_numbers.length > 0 ? current.vendor_numbers.join(',') : null
  for (;;) {
    const question =
      'Vendor number, from Payments and Financial Reports (comma-separated if several; none: no reports)'
    const numbers = vendorsIn(await answers.get('vendor', question, currentNumbers))
    if (numbers.length === 0) {
      answers.print('   Without a vendor number, Windfall does not import sales reports.')
      return []
    }
    const formFault = numbers.map(faultOfVendorNumber).find((text) => text !== null)
    if (formFault !== undefined) {
      await answers.afterProblem(formFault, false)
      continue
    }
    answers.print(QUERYING_APPLE)
    const fault = await faultOfVendors(numbers, key, apple)
    if (fault === null) {
      answers.print('   ✓ Apple provides the reports.')
      return numbers
    }
    if ((await answers.afterProblem(fault.text, true)) === 'keep') return numbers
    if (fault.isKeyFault) return 'another key'
  }
}

const PURCHASES_INTRODUCTION = `
2. The In-App Purchase key, to read your customers' history and recover lost notifications.
   App Store Connect: Users and Access, Integrations, In-App Purchase.`

/** Prompts for the In-App Purchase key. Returns null if the answer is “none”. */
export async function askPurchases(context: ConnectContext, connect: ApiKey): Promise<ChosenKey | null> {
  const { answers, current } = context
  answers.print(PURCHASES_INTRODUCTION)
  for (;;) {
    const question = `Key file, such as SubscriptionKey_ABCDE12345.p8 (${NONE}: no history)`
    const path = await answers.get('purchase-key', question, current.purchases && CURRENT_VALUE)
    if (path === null) return null
    const given =
      path === CURRENT_VALUE && current.purchases
        ? keepKey(current.purchases)
        : await newPurchaseKey(context, path, connect)
    if (typeof given === 'string') {
      await answers.afterProblem(given, false)
      continue
    }
    answers.print(QUERYING_APPLE)
    const problem = await problemOfPurchaseKey(given.key, context.apple, context.bundles)
    if (problem === null) {
      answers.print('   ✓ Apple accepts the key.')
      return given
    }
    if ((await answers.afterProblem(problem.message, true)) === 'keep') return given
  }
}

async function newPurchaseKey(
  context: ConnectContext,
  path: string,
  connect: ApiKey,
): Promise<ChosenKey | string> {
  const file = keyFileAt(context, path)
  if (typeof file === 'string') return file
  if (isSameKey(file.pem, connect.private_key)) return SAME_KEY
  const key_id = await askKeyId(context, file, 'purchase-key-id')
  const issuer = context.current.purchases?.issuer_id ?? connect.issuer_id
  const issuer_id = await askIssuer(context, 'purchase-issuer', 'Issuer id', issuer)
  const fault = faultOfPurchaseIssuer(issuer_id)
  if (fault !== null) return fault
  return newKeyFrom(file, key_id, issuer_id, 'SubscriptionKey')
}
