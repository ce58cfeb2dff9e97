import { expect, test } from 'vitest'
import { shownText } from '../../../../src/attribution/shown_text.ts'
import { attributeRows } from '../../../../src/web/ui/customers/profile/attribute_rows.ts'

test.each([
  ['\u202egnp.exe', 'gnp.exe'],
  ['Ann\u2066\u200f Müller\u2069', 'Ann Müller'],
  ['\ufeffAnn\u0000\u00ad', 'Ann'],
  ['Ann\nMüller\u2028', 'Ann Müller'],
  ['\u200b\u200d\u202e', ''],
  // Joiners that scripts and emoji need.
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['👩\u200d💻', '👩\u200d💻'],
  ['a\u200db', 'ab'],
  ['مریم', 'مریم'],
])('%j is shown as %j', (reported, shown) => {
  expect(shownText(reported)).toBe(shown)
})

test('the attributes of a user are shown without hidden characters, and compared with them', () => {
  const attributes = { name: '\u202eAnn', tags: ['\u202ea'] }
  expect(attributeRows({ attributes, proved_attributes: { name: 'Ann' } })).toEqual([
    { key: 'name', last: 'Ann', proved: 'Ann', differs: true },
    { key: 'tags', last: '["a"]', proved: null, differs: false },
  ])
})
