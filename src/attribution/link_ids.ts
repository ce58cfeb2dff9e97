/** The ids of links and of their moves outside the database. Each names its kind, so that neither is taken for the other. */
import { Refusal } from '../errors.ts'

/** The id of a link, from the number of its row, such as lnk_12. */
export const linkIdOf = (row: number): string => `lnk_${row}`

/** The id of a change of a link, from the number of its row, such as mov_12. */
export const moveIdOf = (row: number): string => `mov_${row}`

/** The number of the row of a move, from its id. @throws Refusal 404 `unknown_move` */
export function moveRowOf(id: string): number {
  const [, row] = /^mov_([1-9]\d{0,14})$/.exec(id) ?? []
  if (row === undefined)
    throw new Refusal(404, 'unknown_move', `there is no move ${id.slice(0, 40)}; link_history has their ids`)
  return Number(row)
}
