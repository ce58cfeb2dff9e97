/** Rows of the attribute table: the last reported value, the proved value, and whether they differ. */
import { shownText } from '../../../../attribution/shown_text.ts'
import type { User } from './profile_answer.ts'

/** Values as text. `proved` is null if no proved call set the attribute. */
export type AttributeRow = { key: string; last: string; proved: string | null; differs: boolean }

const textOf = (value: unknown): string =>
  shownText(typeof value === 'string' ? value : JSON.stringify(value))

/** One row per attribute. Every proved attribute is also in `attributes`. */
export function attributeRows({
  attributes = {},
  proved_attributes = {},
}: Pick<User, 'attributes' | 'proved_attributes'>): AttributeRow[] {
  const proved = new Map(Object.entries(proved_attributes))
  return Object.entries(attributes).map(([key, value]) => {
    const isProved = proved.has(key)
    const differs = isProved && JSON.stringify(proved.get(key)) !== JSON.stringify(value)
    return { key, last: textOf(value), proved: isProved ? textOf(proved.get(key)) : null, differs }
  })
}
