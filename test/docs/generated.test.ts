import { expect, test } from 'vitest'
import { DOCUMENTS, textOf } from './generated.ts'

test.each(DOCUMENTS)('$file is up to date (npm run docs)', (document) => {
  expect(textOf(document)).toBe(document.written(textOf(document)))
})
