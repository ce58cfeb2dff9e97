/** Reads the users and figures of the customers of a page of events in one query. */
import { labelOf, type Proof, type Verification } from '../../attribution/link.ts'
import { bound, type Store } from '../../store/store.ts'
import type { CustomerValue } from './value_statements.ts'

/**
 * Amounts in thousandths of `currency`, the organization’s base currency. `unconverted`: amounts without a known rate, by
 * currency.
 */
type Figures = Pick<CustomerValue, 'ltv_milli' | 'payments' | 'mrr_milli'> & {
  currency: string | null
  unconverted: Record<string, number> | null
}

/** A user linked to a customer’s purchases, and the proofs of the links that prove this user. */
type CustomerUser = { app_user_id: string; verification: Verification; proofs: Proof[] }

/** A customer by its canonical id. `figures` is null if no figures of the customer are stored. */
export type CustomerFigures = { id: string; users: CustomerUser[]; figures: Figures | null }

/** One lineage of a requested customer. */
type MemberRow = {
  asked: string
  id: string
  app_id: string
  ltv_milli: number | null
  payments: number | null
  mrr_milli: number | null
  unconverted: string | null
  app_user_id: string | null
  proved_app_user_id: string | null
  proofs: string | null
}

type Deps = { store: Store; currencyOf: (app_id: string) => string | null }

export function openCustomerFigures({ store, currencyOf }: Deps) {
  // An erasure removes links shortly after it starts. Until then, the links must not show the user.
  const membersOf = store.prepare<[string], MemberRow>(`
    select a.id as asked, a.canonical_id as id, m.app_id,
      v.ltv_milli, v.payments, v.mrr_milli, v.unconverted, l.app_user_id, l.proved_app_user_id, l.proofs
    from customers a
    join customers m on m.canonical_id = a.canonical_id
    left join metric_lineages n on n.app_id = m.app_id and n.environment = m.environment
      and n.original_transaction_id = m.original_transaction_id
    left join apps p on p.id = m.app_id
    left join metric_generations g on g.organization_id = p.organization_id and g.state = 'shown'
    left join customer_values v on v.generation = g.id and v.lineage_id = n.id and v.id = a.canonical_id
    left join links l on l.app_id = m.app_id and l.store = 'apple' and l.transaction_id = m.original_transaction_id
      and not exists (select 1 from erasures e
        where e.finished_at is null and e.app_id = l.app_id and e.app_user_id = l.app_user_id)
    where a.id in (select value from json_each(${bound}))
    order by m.original_purchased_at is null, m.original_purchased_at, m.id`)

  /**
   * Returns the customers of some ids, keyed by the requested id. Former ids match too; unknown ids are omitted. Reads
   * stored figures in one statement, without waiting.
   */
  function figuresOf(ids: readonly string[]): Map<string, CustomerFigures> {
    const rowsByRequestedId = new Map<string, MemberRow[]>()
    for (const row of membersOf.all(JSON.stringify(ids))) {
      const known = rowsByRequestedId.get(row.asked)
      if (known) known.push(row)
      else rowsByRequestedId.set(row.asked, [row])
    }
    return new Map([...rowsByRequestedId].map(([asked, rows]) => [asked, customerOf(rows)]))
  }

  function customerOf(rows: readonly MemberRow[]): CustomerFigures {
    const figures = rows.flatMap(({ app_id, ltv_milli, payments, mrr_milli, unconverted }) => {
      if (ltv_milli === null || payments === null || mrr_milli === null) return []
      const notConverted: Record<string, number> | null =
        unconverted === null ? null : JSON.parse(unconverted)
      return [{ currency: currencyOf(app_id), ltv_milli, payments, mrr_milli, unconverted: notConverted }]
    })
    return { id: rows[0]?.id ?? '', users: usersIn(rows), figures: figures[0] ?? null }
  }

  return { figuresOf }
}

/** The users in the order of purchases. Excludes proofs of users to whom a purchase is no longer linked. */
function usersIn(rows: readonly MemberRow[]): CustomerUser[] {
  const proofsOf = new Map<string, Set<Proof>>()
  for (const { app_user_id, proved_app_user_id, proofs } of rows) {
    if (app_user_id === null) continue
    const known = proofsOf.get(app_user_id) ?? new Set()
    const own: Proof[] = proved_app_user_id === app_user_id ? JSON.parse(proofs ?? '[]') : []
    proofsOf.set(app_user_id, new Set([...known, ...own]))
  }
  return [...proofsOf].map(([app_user_id, known]) => {
    const proofs = [...known].sort()
    const verification = labelOf({ app_user_id, proved_app_user_id: app_user_id, proofs })
    return { app_user_id, verification, proofs }
  })
}
