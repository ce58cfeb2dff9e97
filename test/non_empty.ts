/** Returns `list` for a test that checks each item: an empty list would check nothing. @throws Error when empty */
export function nonEmpty<Item>(list: Iterable<Item>): Item[] {
  const items = [...list]
  if (items.length === 0) throw new Error('the list to check is empty')
  return items
}
