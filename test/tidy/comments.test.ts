/** Comments refer to code that exists. */
import { expect, test } from 'vitest'
import { read, SDK, SOURCES } from './files.ts'

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm
const QUOTED_NAME = /`([A-Za-z_]\w*)(?:\(\))?`/g

test('every name in backticks in a comment exists in the code or the schema', () => {
  const code =
    [...SOURCES, ...SDK].map((file) => read(file).replace(COMMENT, '')).join('\n') + read('schema.sql')
  const names = new Set(code.match(/\w+/g))
  const missing = [...SOURCES, ...SDK].flatMap((file) =>
    (read(file).match(COMMENT) ?? []).flatMap((comment) =>
      [...comment.matchAll(QUOTED_NAME)]
        .filter(([, name = '']) => !names.has(name))
        .map(([quoted]) => `${file} ${quoted}`),
    ),
  )
  expect(missing).toEqual([])
})
