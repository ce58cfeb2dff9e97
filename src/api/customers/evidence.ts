/** One event, and the signed payloads that an event or a customer is based on. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, whole } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import { type ExplainedJws, explainJws, isSigned } from '../../apple/explained.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import { Refusal } from '../../errors.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Evidence } from '../../ledger/evidence.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { Enrichment } from '../../metrics/customers/enrichment.ts'
import { defineList } from '../lists.ts'
import { READ_ROUTE } from '../route_defaults.ts'
import { EventAnswer, EvidenceAnswer, EvidencePage } from './evidence_answers.ts'

const PageQuery = v.object({
  cursor: v.optional(v.pipe(whole(1, Number.MAX_SAFE_INTEGER), v.description('`next` of the previous page'))),
  limit: v.optional(v.pipe(whole(1, 100), v.description('Page size, 1 to 100')), '20'),
})

type Deps = {
  feed: Feed
  ledger: Ledger
  customers: Pick<Customers, 'findById'>
  enrichment: Pick<Enrichment, 'enrich'>
  erasures: Pick<Erasures, 'isErased'>
  /** The trusted root certificates, as PEM. */
  roots: readonly string[]
  apps: Apps
  auth: Auth
}

export function evidenceRoutes(deps: Deps): Route[] {
  const { feed, enrichment, ledger, apps, auth } = deps

  /** @throws Refusal 404 `unknown_event`, also for an event that the caller cannot read. */
  function findEvent(accessScope: AccessScope, id: string): FeedEvent {
    const found = feed.byId(id)
    const isWithin =
      accessScope.organization_id === null || accessScope.organization_id === found?.organization_id
    const mayRead =
      accessScope.apps === null || (found?.app_id != null && accessScope.apps.includes(found.app_id))
    if (found && isWithin && mayRead) return found
    throw new Refusal(404, 'unknown_event', `no event ${id} is readable for this caller`)
  }

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/events/:id',
      summary: 'Returns one event with its app',
      access: auth.reader,
      answers: { 200: { description: 'The event', schema: EventAnswer } },
      refusals: { 404: 'unknown_event' },
      async handler({ caller, params }) {
        const found = findEvent(caller, params.id)
        const app = apps.get(found.app_id ?? '')
        const [event = null] = await enrichment.enrich([found])
        return {
          event,
          app: app && { id: app.id, bundle_id: app.bundle_id, name: app.name },
          evidence: ledger.evidence.listForEvent(found).length,
        }
      },
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/events/:id/evidence',
      summary: 'Returns the signed payloads that an event is derived from, byte for byte, with certificates',
      access: auth.reader,
      answer: { description: 'Empty if Apple did not sign the event', schema: EvidenceAnswer },
      refusals: { 404: 'unknown_event' },
      read: ({ caller, params }) => ({
        evidence: ledger.evidence
          .listForEvent(findEvent(caller, params.id))
          .map((one) => describeEvidence(one, deps)),
      }),
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/customers/:id/evidence',
      summary: 'Lists the signed payloads about a customer, newest first',
      description:
        'Contains every notification, and the newest version of each transaction and renewal info that was received outside a notification.',
      access: auth.reader,
      query: PageQuery,
      answer: { description: 'A page of signed payloads', schema: EvidencePage },
      refusals: { 404: 'unknown_customer' },
      read: ({ caller, params, query: { cursor = null, limit } }) =>
        evidenceOfCustomer(deps, caller, params.id, cursor, limit),
    }),
  ]
}

function evidenceOfCustomer(
  deps: Deps,
  accessScope: AccessScope,
  id: string,
  before: number | null,
  limit: number,
) {
  const { customers, ledger, apps } = deps
  const customer = customers.findById(id)
  if (!customer || !appsInScope(accessScope, apps).some((app) => app.id === customer.app_id))
    throw new Refusal(404, 'unknown_customer', `no customer ${id} is readable for this caller`)
  const { app_id, environment, canonical_id } = customer
  const lineages = ledger.customers.lineages(canonical_id)
  const original_transaction_ids = lineages.map((one) => one.original_transaction_id)
  const purchases = { app_id, environment, original_transaction_ids }
  const { evidence, next } = ledger.evidence.listForPurchases(purchases, { before, limit })
  return {
    evidence: evidence.map((one) => describeEvidence(one, deps)),
    next: next === null ? null : String(next),
  }
}

type EvidenceDeps = Pick<Deps, 'roots' | 'erasures'>

/** Decodes a signed payload. If the payload names an erased user, the signed text is withheld. */
function describeEvidence({ jws, app_id, ...metadata }: Evidence, { roots, erasures }: EvidenceDeps) {
  const explained = explainJws(jws, roots)
  const namesErasedUser = accountTokensIn(explained).some((token) => erasures.isErased(app_id, token))
  if (!namesErasedUser) return { ...metadata, ...explained, jws, withheld: false }
  const nested = explained.nested.map((inner) => ({ ...inner, payload: withoutAccountToken(inner.payload) }))
  return {
    ...metadata,
    ...explained,
    payload: withoutAccountToken(explained.payload),
    nested,
    jws: null,
    withheld: true,
  }
}

const accountTokensIn = ({ payload, nested }: ExplainedJws): string[] =>
  [payload, ...nested.map((inner) => inner.payload)].flatMap(({ appAccountToken }) =>
    typeof appAccountToken === 'string' ? [appAccountToken] : [],
  )

/** Removes the account tokens, and the nested signed texts, which contain them. */
function withoutAccountToken(payload: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(payload, (key, value) => (key === 'appAccountToken' || isSigned(key) ? undefined : value)),
  )
}
