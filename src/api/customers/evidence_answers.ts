/** Response schemas of events and signed payloads. */
import * as v from 'valibot'
import { FeedEventAnswer } from '../event_answers.ts'

const payload = v.pipe(v.record(v.string(), v.unknown()), v.description('The payload as Apple signed it'))
const sha256 = v.pipe(v.string(), v.description('SHA-256 of the payload as received, in hex'))

const Signed = v.object({
  id: v.number(),
  kind: v.picklist(['notification', 'transaction', 'renewal']),
  source: v.pipe(
    v.picklist(['push', 'pending', 'device', 'history', 'transactions', 'status']),
    v.description('How the payload was received'),
  ),
  sha256,
  received_at: v.number(),
  signed_at: v.nullable(v.number()),
  jws: v.pipe(
    v.nullable(v.string()),
    v.description('The signed text, byte for byte; null if it names an erased user'),
  ),
  withheld: v.boolean(),
  payload,
  nested: v.pipe(
    v.array(v.object({ in: v.string(), sha256, payload })),
    v.description('The nested signed payloads and their paths'),
  ),
  chain: v.pipe(
    v.array(
      v.object({
        subject: v.string(),
        issuer: v.string(),
        not_before: v.number(),
        not_after: v.number(),
        sha256: v.string(),
      }),
    ),
    v.description('From leaf to root'),
  ),
  root_trusted: v.pipe(v.boolean(), v.description('Whether the root is the built-in Apple root')),
})

export const EvidenceAnswer = v.object({ evidence: v.array(Signed) })
export const EvidencePage = v.object({
  evidence: v.array(Signed),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The value of `cursor` for the next page; null on the last page'),
  ),
})

export const EventAnswer = v.object({
  event: FeedEventAnswer,
  app: v.nullable(v.object({ id: v.string(), bundle_id: v.string(), name: v.nullable(v.string()) })),
  evidence: v.pipe(v.number(), v.description('How many signed payloads the event is derived from')),
})
