/** What we compute: what of a metric a guest may see: money in the one form of the link, and nobody in particular. */
import type { ViewerAccess } from '../../access/auth.ts'
import { Refusal } from '../../errors.ts'
import { type Definition, isMoney } from '../../metrics/definitions/definition.ts'
import type { Basis } from '../../money.ts'

/**
 * The basis that a metric is told in. Of a guest whatever is asked counts for nothing: it is that of the link. Who sees
 * one of the two must not be able to work out the other: with a link for proceeds, money that is known as gross alone
 * (movements, churn in money, what is at risk) is not told. Nor may guests ask by attribute, which may name one person.
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
    throw new Refusal(
      403,
      'not_for_guests',
      'attributes are of single users, which a share link does not show',
    )
  if (basis !== 'proceeds') return 'gross'
  if (definition.bases.includes('proceeds')) return 'proceeds'
  if (!isMoney(definition)) return 'gross'
  const detail = 'this is known before tax and commission alone, which this share link does not show'
  throw new Refusal(403, 'not_for_guests', detail)
}
