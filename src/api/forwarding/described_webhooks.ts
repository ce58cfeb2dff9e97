/** The webhooks in the OpenAPI document: one for each event type, with its schema and its example. */
import { EVENT_TYPES } from '../../events/vocabulary.ts'
import { EVENT_SENTENCES } from '../../forwarding/bodies/catalogue.ts'
import { exampleOf } from '../../forwarding/bodies/test_event.ts'
import type { Webhooks } from '../../http/route.ts'
import { BODY_PARTS, bodySchemaOf } from './body_schemas.ts'

/** Describes the webhook of each event type. */
export const describedWebhooks = (): Webhooks => ({
  parts: BODY_PARTS,
  list: EVENT_TYPES.map((type) => ({
    name: type,
    summary: EVENT_SENTENCES[type],
    body: bodySchemaOf(type),
    example: exampleOf(type),
  })),
})
