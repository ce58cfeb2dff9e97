/** Which basis of a metric a guest sees. */
import type { ViewerAccess } from '../../access/auth.ts'
import { Refusal } from '../../errors.ts'
import { type Definition, isMoney } from '../../metrics/definitions/definition.ts'
import type { Basis } from '../../money.ts'

/**
 * Returns the basis of a metric for the caller. A guest always gets the basis of the share link. A guest must not be
 * able to derive proceeds from gross, or gross from proceeds. Therefore a link for proceeds does not show money that is
 * known only as gross (movements, churn in money, MRR at risk). Guests cannot filter by attribute, because an attribute
 * may identify a person.
 *
 * @throws Refusal 403 `not_for_guests`.
 */
export function basisFor(
  { basis, isGuest }: ViewerAccess,
  definition: Pick<Definition, 'unit' | 'ratio_of' | 'bases'>,
  query: { basis: Basis; attribute?: string | undefined },
): Basis {
  if (!isGuest) return query.basis
  if (query.attribute !== undefined)
    throw new Refusal(403, 'not_for_guests', 'a share link does not allow filtering by attribute')
  if (basis !== 'proceeds') return 'gross'
  if (definition.bases.includes('proceeds')) return 'proceeds'
  if (!isMoney(definition)) return 'gross'
  const detail = 'this metric is known only before tax and commission; this share link shows proceeds'
  throw new Refusal(403, 'not_for_guests', detail)
}
