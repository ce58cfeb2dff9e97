/** The format of the cases in sdk/contract. Their JSON Schemas are made from it. */
import { readFileSync } from 'node:fs'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'

const about = <T extends v.GenericSchema>(text: string, schema: T) => v.pipe(schema, v.description(text))

const Json = v.record(v.string(), v.unknown())
const Headers = v.record(v.string(), v.string())
const seconds = (text: string) => about(text, v.number())

const Device = v.strictObject({
  bundleId: v.optional(v.string()),
  platform: v.optional(v.string()),
  osVersion: v.optional(v.string()),
  deviceModel: v.optional(v.string()),
  locale: v.optional(v.string()),
})
const Options = v.strictObject({
  url: v.optional(v.string()),
  key: v.optional(v.string()),
  bundleId: v.optional(v.string()),
})
const Attributes = about('Names and values; a case may have values that an SDK leaves out', Json)
const Purchase = about(
  'originalTransactionId, transactionId, productId, jws; purchaseToken and purchaseState of Google Play. Cases that require `javascript` have the fields of purchase libraries',
  Json,
)
const Call = v.strictObject({
  call: v.picklist(['configure', 'identify', 'setAttributes', 'reset', 'attributePurchase', 'flush']),
  options: v.optional(about('For configure: replace those of the file', Options)),
  userId: v.optional(v.string()),
  attributes: v.optional(Attributes),
  purchase: v.optional(Purchase),
})
const Sent = v.strictObject({
  path: about('Below the url of the options, or a whole address', v.string()),
  headers: v.optional(about('Are there with these values, by names in lower case', Headers)),
  withoutHeaders: v.optional(about('Are not there', v.array(v.string()))),
  body: about('The body, exactly: a field that is absent here is absent there', Json),
})
const Refusal = v.strictObject({
  status: v.number(),
  body: v.optional(about('The body, as JSON', Json)),
  text: v.optional(about('The body, where it is not JSON', v.string())),
  headers: v.optional(Headers),
})
const Answer = v.union([v.picklist(['accept', 'no connection', 'accept, answer lost']), Refusal])
const Plain = v.union([
  Call,
  v.strictObject({ observe: about('The store, or a purchase library, reports this purchase', Purchase) }),
  v.strictObject({ wake: about('The app comes to the foreground', v.literal(true)) }),
  v.strictObject({
    answers: about('The answers to the next requests', v.array(Answer)),
    after: v.optional(about('The answer to all later requests; `accept` if absent', Answer)),
  }),
  v.strictObject({ pass: seconds('Time passes, and timers run') }),
  v.strictObject({ turnClock: seconds('The wall clock alone is turned') }),
  v.strictObject({ device: about('These fields of the device change, from the next start on', Device) }),
  v.strictObject({ restart: about('A kill, a start and configure', v.literal(true)) }),
  v.strictObject({ storage: v.picklist(['works', 'refuses writes', 'refuses removals', 'cannot be read']) }),
  v.strictObject({ attestation: v.picklist(['works', 'unsupported', 'simulator', 'invalid key']) }),
  v.strictObject({
    enrolment: about(
      'What enrolments get from now on: a device token, or an answer',
      v.union([v.string(), Refusal]),
    ),
  }),
  v.strictObject({
    expect: about('Exactly these requests since the last expectation, in order', v.array(Sent)),
  }),
  v.strictObject({ expectCount: about('So many requests since the last expectation', v.number()) }),
  v.strictObject({ expectState: about('Fields of debugState', Json) }),
  v.strictObject({ expectWarnings: about('So many warnings since the start', v.number()) }),
  v.strictObject({ expectEnrolments: about('So many since the last such expectation', v.number()) }),
  v.strictObject({ expectKeys: about('So many keys of App Attest since the beginning', v.number()) }),
])
const Step = v.union([
  Plain,
  v.strictObject({
    repeat: about('The steps run so often; `{n}` in a text is the repetition, from 1', v.number()),
    steps: v.array(Plain),
  }),
])
const Requires = v.array(
  v.picklist(['attestation', 'app_store', 'google_play', 'storage_faults', 'javascript']),
)

export const Behaviour = v.strictObject({
  $schema: v.literal('./behaviour.schema.json'),
  device: Device,
  options: Options,
  cases: v.array(
    v.strictObject({
      name: v.string(),
      contract: about('The sentence that the case proves', v.string()),
      requires: v.optional(Requires),
      device: v.optional(Device),
      steps: v.array(Step),
    }),
  ),
})
export const Wire = v.strictObject({
  $schema: v.literal('./wire.schema.json'),
  device: Device,
  options: Options,
  cases: v.array(
    v.strictObject({
      name: v.string(),
      requires: v.optional(Requires),
      options: v.optional(Options),
      device: v.optional(Device),
      calls: about('Follow a call of configure', v.array(Call)),
      requests: about('All requests of these calls, in order', v.array(Sent)),
    }),
  ),
  hashes: about(
    'What App Attest signs: the SHA-256, in base64, of the bytes of a challenge, and of method, path and body of a call',
    v.array(
      v.strictObject({
        challenge: v.optional(v.string()),
        path: v.optional(v.string()),
        body: v.optional(v.string()),
        sha256: v.string(),
      }),
    ),
  ),
})
export type Step = v.InferOutput<typeof Step>
export type Plain = v.InferOutput<typeof Plain>
export type Answer = v.InferOutput<typeof Answer>
export type Sent = v.InferOutput<typeof Sent>
export type Call = v.InferOutput<typeof Call>
export type Purchase = v.InferOutput<typeof Purchase>
export type Device = v.InferOutput<typeof Device>
export type Options = v.InferOutput<typeof Options>

const WIRE_PARTS = { Device, Options, Call, Sent, Requires }

/** The JSON Schemas of the files, in which each part has a name. */
export const JSON_SCHEMAS = {
  wire: toJsonSchema(Wire, { target: 'draft-2020-12', definitions: WIRE_PARTS }),
  behaviour: toJsonSchema(Behaviour, {
    target: 'draft-2020-12',
    definitions: { ...WIRE_PARTS, Refusal, Answer, Plain, Step },
  }),
}

export const contractUrl = (name: string) => new URL(`../../sdk/contract/${name}`, import.meta.url)
export const readContract = (name: string): unknown => JSON.parse(readFileSync(contractUrl(name), 'utf8'))
