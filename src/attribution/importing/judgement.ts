/** Counts what the rows of a dry run would do together. */
import type { ImportOutcome, JudgedRows } from './link_import.ts'
import type { LinkRow } from './link_row.ts'

/**
 * Returns the function that turns what each row would do alone into what all of them do, in their order and after those of
 * earlier calls: the second row of a purchase links nothing. It keeps the user of each purchase.
 */
export function openJudgement() {
  const userByPurchase = new Map<string, string>()

  return function together(rows: readonly unknown[], { effects, faults }: JudgedRows): ImportOutcome {
    const outcome: ImportOutcome = { linked: 0, moved: 0, unchanged: 0, refused: 0, faults }
    for (const [index, alone] of effects.entries()) {
      if (alone === 'refused') {
        outcome.refused += 1
        continue
      }
      const { app, original_transaction_id, app_user_id } = rows[index] as LinkRow
      const purchase = `${app} ${original_transaction_id}`
      const earlier = userByPurchase.get(purchase)
      outcome[earlier === undefined ? alone : earlier === app_user_id ? 'unchanged' : 'moved'] += 1
      userByPurchase.set(purchase, app_user_id)
    }
    return outcome
  }
}
