/** The documents name what exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

test('every source file and folder that the documents name exists', () => {
  const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const missing = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages].flatMap(
    (page) =>
      [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/`((?:src|test)\/[\w./-]+)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(new URL(path, ROOT)))
        .map((path) => `${page} names ${path}`),
  )
  expect(missing).toEqual([])
})
