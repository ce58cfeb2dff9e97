/** Undoing a move of a purchase between users. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Attribution } from '../../attribution/attribution.ts'
import { moveRowOf } from '../../attribution/link_ids.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const nullableText = v.nullable(v.string())
const UndoneAnswer = v.object({
  app_id: v.string(),
  link: v.object({
    app_user_id: v.string(),
    proved_app_user_id: nullableText,
    verification: v.picklist(['verified', 'unverified']),
    proofs: v.array(v.picklist(['purchase', 'device', 'server'])),
    product_id: nullableText,
    unattested: nullableText,
  }),
})

type Deps = { attribution: Attribution; audit: Audit; auth: Auth }

export const linkUndoRoutes = ({ attribution, audit, auth }: Deps): Route[] => [
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/link-moves/:id/undo',
    summary:
      'Undoes a move by its id in `link_history`: links the purchase to the previous user again, with the previous label',
    access: auth.owner,
    answers: { 200: { description: 'The link after the undo', schema: UndoneAnswer } },
    refusals: { 404: 'unknown_move', 409: 'move_superseded', 410: 'forgotten' },
    async handler({ event, params: { id } }): Promise<v.InferOutput<typeof UndoneAnswer>> {
      return auth.commitAs(event, auth.owner, (actor) => {
        const { link, app_id } = attribution.undoMove(moveRowOf(id))
        audit.note({ ...actor, action: 'move.undone', subject: id })
        return { app_id, link: { ...link, proofs: [...link.proofs] } }
      })
    },
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/links/:id/undo',
    summary:
      'Was replaced by `POST /api/v1/link-moves/{id}/undo`, because its id was that of a move and not of a link',
    access: auth.owner,
    answers: {},
    refusals: { 410: 'replaced' },
    handler() {
      throw new Refusal(410, 'replaced', REPLACED)
    },
  }),
]

const REPLACED = 'use POST /api/v1/link-moves/{id}/undo, with the id of a move from link_history (mov_…)'
