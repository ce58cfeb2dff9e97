/** What we compute: the shapes in which an event and what Apple signed are told. */
import * as v from 'valibot'
import { FeedEventAnswer } from '../events.ts'

const payload = v.pipe(v.record(v.string(), v.unknown()), v.description('As Apple wrote it'))
const sha256 = v.pipe(v.string(), v.description('Of the payload as it was sent, in hex'))

const Signed = v.object({
  id: v.number(),
  kind: v.picklist(['notification', 'transaction', 'renewal']),
  source: v.pipe(
    v.picklist(['push', 'pending', 'device', 'history', 'transactions', 'status']),
    v.description('What brought it'),
  ),
  sha256,
  received_at: v.number(),
  signed_at: v.nullable(v.number()),
  jws: v.pipe(
    v.nullable(v.string()),
    v.description('Byte for byte; null where it names somebody who was forgotten'),
  ),
  withheld: v.boolean(),
  payload,
  nested: v.pipe(
    v.array(v.object({ in: v.string(), sha256, payload })),
    v.description('The signed texts within it, and where'),
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
    v.description('The leaf first, the root last'),
  ),
  root_trusted: v.pipe(v.boolean(), v.description('The root is the one that is built in')),
})

export const EvidenceAnswer = v.object({ evidence: v.array(Signed) })
export const EvidencePage = v.object({
  evidence: v.array(Signed),
  next: v.pipe(v.nullable(v.string()), v.description('`cursor` of the next page; null after the last')),
})

export const EventAnswer = v.object({
  event: FeedEventAnswer,
  app: v.nullable(v.object({ id: v.string(), bundle_id: v.string(), name: v.nullable(v.string()) })),
  evidence: v.pipe(v.number(), v.description('How many signed texts it follows from')),
})
