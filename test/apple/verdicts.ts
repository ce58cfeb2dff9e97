/** Two opinions on a signed text: ours, and that of Apple's own server library in its offline mode. */
import { X509Certificate } from 'node:crypto'
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library'
import { openVerifier, SignatureError, type Verifier } from '../../src/apple/jws/signed.ts'
import { verifyNotification, verifyTransaction } from '../../src/apple/notification.ts'
import { systemClock } from '../../src/clock.ts'
import { Refusal } from '../../src/errors.ts'

export type Kind = 'notification' | 'transaction' | 'renewal' | 'app transaction'
/** The app as its owner configured it. */
export type App = { bundle_id: string; apple_id: number; environment: 'Production' | 'Sandbox' | 'Xcode' }
/** A signed text, what it is said to be, and the root (PEM) and app that it is held against. */
export type Submission = { kind: Kind; jws: string; root_pem: string; app: App }

/** `accepted`, or the code of the refusal. */
export type Verdict = string
export const ACCEPTED = 'accepted'

const verifiers = new Map<string, Verifier>()

/** One for each root, so that what it remembers of one text is there when the next comes. */
function verifierFor(root_pem: string): Verifier {
  const known = verifiers.get(root_pem) ?? openVerifier({ roots: [root_pem], clock: systemClock })
  verifiers.set(root_pem, known)
  return known
}

/** What the program does next: it looks the app up. */
function lookUp(app: App, bundle_id: unknown, environment: unknown, apple_id: unknown): Verdict {
  if (bundle_id !== app.bundle_id) return 'another app'
  if (environment !== app.environment.toLowerCase()) return 'another environment'
  return environment === 'production' && apple_id !== app.apple_id ? 'another Apple id' : ACCEPTED
}

async function judge({ kind, jws, root_pem, app }: Submission): Promise<Verdict> {
  const verifier = verifierFor(root_pem)
  if (kind === 'notification') {
    const { payload } = await verifyNotification(verifier, jws)
    return lookUp(app, payload.bundle_id, payload.environment, payload.apple_id)
  }
  if (kind === 'transaction') {
    const { payload } = await verifyTransaction(verifier, jws)
    return lookUp(app, payload.bundle_id, payload.environment, app.apple_id)
  }
  const { payload } = await verifier.verify(jws)
  const environment = String(payload.environment ?? payload.receiptType).toLowerCase()
  if (kind === 'renewal') return lookUp(app, app.bundle_id, environment, app.apple_id)
  return lookUp(app, payload.bundleId, environment, payload.appAppleId)
}

/** Our verdict: proved, and the app is the one configured. Anything thrown that is no refusal is a fault of ours. */
export async function ours(submission: Submission): Promise<Verdict> {
  try {
    return await judge(submission)
  } catch (error) {
    if (error instanceof SignatureError || error instanceof Refusal) return error.code
    throw error
  }
}

const ENVIRONMENTS = {
  Production: Environment.PRODUCTION,
  Sandbox: Environment.SANDBOX,
  Xcode: Environment.XCODE,
}

async function judgeAsApple({ kind, jws, root_pem, app }: Submission): Promise<void> {
  const root = new X509Certificate(root_pem).raw
  const library = new SignedDataVerifier(
    [root],
    false,
    ENVIRONMENTS[app.environment],
    app.bundle_id,
    app.apple_id,
  )
  if (kind === 'transaction') await library.verifyAndDecodeTransaction(jws)
  if (kind === 'renewal') await library.verifyAndDecodeRenewalInfo(jws)
  if (kind === 'app transaction') await library.verifyAndDecodeAppTransaction(jws)
  if (kind !== 'notification') return
  const { data, appData } = await library.verifyAndDecodeNotification(jws)
  if (data?.signedTransactionInfo) await library.verifyAndDecodeTransaction(data.signedTransactionInfo)
  if (data?.signedRenewalInfo) await library.verifyAndDecodeRenewalInfo(data.signedRenewalInfo)
  if (appData?.signedAppTransactionInfo) {
    await library.verifyAndDecodeAppTransaction(appData.signedAppTransactionInfo)
  }
}

/** The verdict of Apple's library, when it is used as documented: each signed text inside is verified as well. */
export async function apples(submission: Submission): Promise<Verdict> {
  try {
    await judgeAsApple(submission)
    return ACCEPTED
  } catch (error) {
    const status = (error as { status?: unknown }).status
    return `refused (${status === undefined ? String(error) : `status ${status}`})`
  }
}

class OpenedLibrary extends SignedDataVerifier {
  judgeChain(root: X509Certificate, leaf: X509Certificate, intermediate: X509Certificate, at: Date) {
    return this.verifyCertificateChain([root], leaf, intermediate, at)
  }
}

/** What Apple's library says of a chain alone, at a time. */
export async function applesOfChain(chain: readonly Buffer[], root: Buffer, at: number): Promise<Verdict> {
  const library = new OpenedLibrary([root], false, Environment.SANDBOX, 'com.example')
  const [leaf, intermediate] = chain.map((der) => new X509Certificate(der))
  if (leaf === undefined || intermediate === undefined)
    throw new Error('a chain has two certificates at least')
  try {
    await library.judgeChain(new X509Certificate(root), leaf, intermediate, new Date(at))
    return ACCEPTED
  } catch {
    return 'refused'
  }
}
