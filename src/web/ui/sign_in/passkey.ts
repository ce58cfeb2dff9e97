/** Asks the browser to create or to use a passkey. The library is loaded on first use. */
import type { InferOutput } from 'valibot'
import type { CreationOptionsAnswer, RequestOptionsAnswer } from '../../../api/owner/passkey_bodies.ts'
import { Problem } from '../http.ts'

type CreationOptions = InferOutput<typeof CreationOptionsAnswer>
type RequestOptions = InferOutput<typeof RequestOptionsAnswer>
type Library = typeof import('@simplewebauthn/browser')
type CreationInput = Parameters<Library['startRegistration']>[0]['optionsJSON']

/** Whether the browser knows passkeys at all. */
export const knowsPasskeys = (): boolean => 'PublicKeyCredential' in window

/** Creates a passkey. @throws Problem with what the owner can do. */
export const createPasskey = (options: CreationOptions) =>
  ask(({ startRegistration }) => startRegistration({ optionsJSON: options as CreationInput }))

/** Uses a passkey. @throws Problem with what the owner can do. */
export const takePasskey = (options: RequestOptions) =>
  ask(({ startAuthentication }) => startAuthentication({ optionsJSON: options }))

async function ask<Answer>(call: (library: Library) => Promise<Answer>): Promise<Answer> {
  const library = await import('@simplewebauthn/browser')
  try {
    return await call(library)
  } catch (error) {
    throw new Problem(0, 'passkey_failed', textOf(error))
  }
}

/** The names of the errors are those of WebAuthn. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const texts: Record<string, string> = {
    NotAllowedError: 'Canceled, or no passkey was chosen in time.',
    AbortError: 'Canceled.',
    InvalidStateError: 'This device has a passkey for Windfall already.',
    SecurityError: `Passkeys do not work at ${location.host}. Open Windfall at the address that base_url names.`,
  }
  return texts[error.name] ?? error.message
}
