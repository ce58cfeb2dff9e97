/** What browsers send and get when a passkey is created or used: the JSON of WebAuthn. */
import * as v from 'valibot'

/** Bytes in base64url. */
const bytes = (maximum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[\w-]+$/, 'must be base64url'),
    v.maxLength(maximum, `must have at most ${maximum} characters`),
  )

/** At most 1,023 bytes (WebAuthn, section 4). */
const Id = bytes(1_364)
const CLIENT_DATA = 4_096
const common = { id: Id, rawId: Id, type: v.literal('public-key') }
/** A passkey that a browser created. Further fields are ignored. */
export const NewPasskey = v.object({
  ...common,
  response: v.object({
    clientDataJSON: bytes(CLIENT_DATA),
    attestationObject: bytes(8_192),
    transports: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.regex(/^[\w-]{1,20}$/, 'is not a transport'))),
        v.maxLength(10, 'must have at most 10'),
      ),
      [],
    ),
  }),
})

/** A passkey that a browser used. Further fields are ignored. */
export const PasskeyUse = v.object({
  ...common,
  response: v.object({
    clientDataJSON: bytes(CLIENT_DATA),
    authenticatorData: bytes(1_024),
    signature: bytes(2_048),
  }),
})

const required = v.literal('required')

/** The options of `navigator.credentials.create()`, as JSON. */
export const CreationOptionsAnswer = v.object({
  challenge: v.string(),
  rp: v.object({ id: v.string(), name: v.string() }),
  user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
  pubKeyCredParams: v.array(v.object({ type: v.literal('public-key'), alg: v.number() })),
  timeout: v.pipe(v.number(), v.description('Milliseconds')),
  attestation: v.literal('none'),
  excludeCredentials: v.array(
    v.object({ type: v.literal('public-key'), id: v.string(), transports: v.array(v.string()) }),
  ),
  authenticatorSelection: v.object({
    residentKey: required,
    requireResidentKey: v.boolean(),
    userVerification: required,
  }),
})

/** The options of `navigator.credentials.get()`, as JSON. */
export const RequestOptionsAnswer = v.object({
  challenge: v.string(),
  rpId: v.string(),
  timeout: v.pipe(v.number(), v.description('Milliseconds')),
  userVerification: required,
})
