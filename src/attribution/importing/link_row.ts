/** A row of an import: one purchase and the user it belongs to. */
import * as v from 'valibot'
import { IdentifyCall, NewUserId, transactionId } from '../requests.ts'

/** The fields of a row. `app` is a bundle id. */
export const LinkRow = v.object({
  app: IdentifyCall.entries.bundleId,
  app_user_id: NewUserId,
  original_transaction_id: v.pipe(
    transactionId,
    v.regex(/^\d+$/, 'must be an original transaction id of Apple: digits only'),
  ),
  attributes: IdentifyCall.entries.attributes,
})
export type LinkRow = v.InferOutput<typeof LinkRow>
