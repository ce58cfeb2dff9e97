/** The documents name what exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const read = (page: string): string => readFileSync(new URL(page, ROOT), 'utf8')
const docs = (): string[] =>
  readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
const sdkPages = (): string[] =>
  readdirSync(new URL('sdk/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('/dist/'))
    .map((name) => `sdk/${name}`)

test('every source file and folder that the documents name exists', () => {
  const missing = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs()].flatMap(
    (page) =>
      [...read(page).matchAll(/`((?:src|test)\/[\w./-]+)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(new URL(path, ROOT)))
        .map((path) => `${page} names ${path}`),
  )
  expect(missing).toEqual([])
})

test('every link from a document leads to a file and a heading that exist', () => {
  const top = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
  const pages = [...top, ...docs(), ...sdkPages()]
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path, anchor]) => {
      const target = path
        ? fileURLToPath(new URL(path, new URL(page, ROOT)))
        : fileURLToPath(new URL(page, ROOT))
      if (!existsSync(target)) return [`${page}: ${path}`]
      return anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).has(anchor)
        ? []
        : [`${page}: ${path}#${anchor}`]
    }),
  )
  expect(broken).toEqual([])
})

/** The anchors that GitHub gives the headings of a page. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
