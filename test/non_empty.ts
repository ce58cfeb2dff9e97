/** `list`, for a test that checks each of its items: without any it would pass and check nothing. @throws Error when empty */
export function nonEmpty<Item>(list: Iterable<Item>): Item[] {
  const items = [...list]
  if (items.length === 0) throw new Error('the list to check is empty')
  return items
}
