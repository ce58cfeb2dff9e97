/** The sizes of files, folders and functions. They only ever shrink. */
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT, read, SDK, SOURCES, TESTS, TOOLS } from './files.ts'
import { type FunctionLines, functionsOf, hasGrown } from './function_lines.ts'

const FILE_LINES_MOST = 300
const FUNCTION_LINES_MOST = 60
/** The most files of one folder; a number below 20 or a folder less is progress. */
const FOLDER_FILES_MOST = 20
const LARGE_FOLDERS = new Map([['test/web/ui', 22]])

/** The functions above the limit, each with its lines. `UPDATE=1` updates the file, unless the list would grow. */
const LONG_FUNCTIONS = 'test/tidy/long_functions.json'

test('folders are small', () => {
  const files = new Map<string, number>()
  for (const file of [...SOURCES, ...SDK, ...TESTS, ...TOOLS]) {
    const folder = file.slice(0, file.lastIndexOf('/'))
    files.set(folder, (files.get(folder) ?? 0) + 1)
  }
  const large = [...files].filter(
    ([folder, count]) => count > (LARGE_FOLDERS.get(folder) ?? FOLDER_FILES_MOST),
  )
  expect(large).toEqual([])
})

test('files are short', () => {
  const long = [...SOURCES, ...SDK, ...TOOLS].filter(
    (file) => read(file).split('\n').length - 1 > FILE_LINES_MOST,
  )
  expect(long).toEqual([])
})

test('functions are short, and those listed as long only shrink', () => {
  const listed: FunctionLines = JSON.parse(read(LONG_FUNCTIONS))
  const long = Object.fromEntries(
    [...SOURCES, ...SDK, ...TOOLS].flatMap((file) =>
      functionsOf(read(file))
        .filter(({ lines }) => lines > FUNCTION_LINES_MOST)
        .map(({ name, lines }) => [`${file} ${name}`, lines]),
    ),
  )
  if (process.env.UPDATE && !hasGrown(listed, long))
    writeFileSync(new URL(LONG_FUNCTIONS, ROOT), `${JSON.stringify(long, null, 2)}\n`)
  else
    expect(
      long,
      'shorten what is new or has grown; after a rename or a shorter function, update the list: UPDATE=1 npx vitest run --config test/vitest.config.ts test/tidy',
    ).toEqual(listed)
})

test('the list of long functions takes a rename and a shorter function, and no longer or further one', () => {
  const listed = { 'a.ts openA': 90, 'b.ts openB': 70 }
  expect(hasGrown(listed, { 'b.ts openB': 70, 'c.ts openC': 90 })).toBe(false)
  expect(hasGrown(listed, { 'a.ts openA': 65, 'b.ts openB': 70 })).toBe(false)
  expect(hasGrown(listed, { 'a.ts openA': 90 })).toBe(false)
  expect(hasGrown(listed, { 'a.ts openA': 90, 'b.ts openB': 71 })).toBe(true)
  expect(hasGrown(listed, { ...listed, 'c.ts openC': 61 })).toBe(true)
})

test('a function counts from the line that opens it to the line that closes it', () => {
  const text = [
    'export async function openA(): Promise<{',
    '  of: string',
    '}> {',
    '  function inner() {',
    '    return { a: 1 }',
    '  }',
    '  return inner()',
    '}',
    'const short = (x: number): number => x',
    'export const longer = (',
    '  x: number,',
    '): number => {',
    '  return x',
    '}',
  ].join('\n')
  expect(functionsOf(text)).toEqual([
    { name: 'openA', lines: 8 },
    { name: 'inner', lines: 3 },
    { name: 'longer', lines: 5 },
  ])
})
