/** What rules remember, such as the milestones that were passed. Writing functions must run inside a unit of work. */
import type { Store } from '../store/store.ts'

/** `rule_id` is empty for what belongs to the whole organization. */
type Owner = Readonly<{ organization_id: string; rule_id: string }>

/** The owner of what a rule remembers. */
export const ownerOf = ({ organization_id, id }: { organization_id: string; id: string }): Owner => ({
  organization_id,
  rule_id: id,
})

export type Memory = ReturnType<typeof openMemory>

/** Opens the memory. */
export function openMemory(store: Pick<Store, 'prepare'>) {
  const select = store.prepare<[string, string, string], { value: string; at: number }>(
    'select value, at from alert_memory where organization_id = ? and rule_id = ? and key = ?',
  )
  const selectPrefix = store.prepare<
    [string, string, string, string],
    { key: string; value: string; at: number }
  >(`
    select key, value, at from alert_memory
    where organization_id = ? and rule_id = ? and key >= ? and key < ? order by key`)
  const upsert = store.prepare<Owner & { key: string; value: string; at: number }>(`
    insert or replace into alert_memory (organization_id, rule_id, key, value, at)
    values (:organization_id, :rule_id, :key, :value, :at)`)
  const remove = store.prepare<Owner & { key: string }>(
    'delete from alert_memory where organization_id = :organization_id and rule_id = :rule_id and key = :key',
  )

  return {
    /** What is remembered with a key, and since when; null if nothing is. */
    get: ({ organization_id, rule_id }: Owner, key: string) =>
      select.get(organization_id, rule_id, key) ?? null,
    /** Everything whose key begins with a prefix of letters and a slash. */
    all: ({ organization_id, rule_id }: Owner, prefix: string) =>
      selectPrefix.all(organization_id, rule_id, `${prefix}/`, `${prefix}0`),
    set: ({ organization_id, rule_id }: Owner, key: string, value: string, at: number): void =>
      void upsert.run({ organization_id, rule_id, key, value, at }),
    forget: ({ organization_id, rule_id }: Owner, key: string): void =>
      void remove.run({ organization_id, rule_id, key }),
  }
}
