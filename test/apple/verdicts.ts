/** Two verdicts on a signed payload: Windfall's, and that of Apple's server library in its offline mode. */
import { X509Certificate } from 'node:crypto'
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library'
import { openVerifier, SignatureError, type Verifier } from '../../src/apple/jws/signed.ts'
import { verifyNotification, verifyTransaction } from '../../src/apple/notification.ts'
import { systemClock } from '../../src/clock.ts'
import { Refusal } from '../../src/errors.ts'

export type Kind = 'notification' | 'transaction' | 'renewal' | 'app transaction'
/** The configured app. */
export type App = { bundle_id: string; apple_id: number; environment: 'Production' | 'Sandbox' | 'Xcode' }
/** A signed payload, its claimed kind, and the root (PEM) and app to verify it for. */
export type Submission = { kind: Kind; jws: string; root_pem: string; app: App }

/** `accepted`, or the code of the refusal. */
export type Verdict = string
export const ACCEPTED = 'accepted'

const verifiers = new Map<string, Verifier>()

/** One verifier per root, so that its cache serves all payloads. */
function verifierFor(root_pem: string): Verifier {
  const known = verifiers.get(root_pem) ?? openVerifier({ roots: [root_pem], clock: systemClock })
  verifiers.set(root_pem, known)
  return known
}

/** Compares the app of the payload with the configured app, as the program does after verification. */
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

/** Windfall's verdict: the payload is verified and is for the configured app. Rethrows errors other than refusals. */
export async function windfallVerdict(submission: Submission): Promise<Verdict> {
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

/** The verdict of Apple's library, used as documented: each signed payload in a notification is verified, too. */
export async function appleVerdict(submission: Submission): Promise<Verdict> {
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

/** The verdict of Apple's library on a chain at an instant. */
export async function applesOfChain(chain: readonly Buffer[], root: Buffer, at: number): Promise<Verdict> {
  const library = new OpenedLibrary([root], false, Environment.SANDBOX, 'com.example')
  const [leaf, intermediate] = chain.map((der) => new X509Certificate(der))
  if (leaf === undefined || intermediate === undefined)
    throw new Error('a chain needs at least two certificates')
  try {
    await library.judgeChain(new X509Certificate(root), leaf, intermediate, new Date(at))
    return ACCEPTED
  } catch {
    return 'refused'
  }
}
