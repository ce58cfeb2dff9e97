/** The words of the code: names and texts use the field's terms. */
import { expect, test } from 'vitest'
import { read, SDK, SOURCES, TESTS, TOOLS } from './files.ts'

const CODE = [...SOURCES, ...SDK, ...TOOLS]
const THIS_FILE = 'test/tidy/words.test.ts'

/** No name may have one of these as a part, in camel or snake case. */
const RETIRED_PARTS = new Set(
  [
    ['told', 'tell', 'untold', 'wish', 'wishes', 'wished', 'wisher', 'meant', 'anew', 'somebody', 'anybody'],
    ['whoever', 'whom', 'deed', 'deeds', 'doorway', 'seam', 'seams', 'ripen', 'heed', 'unheed', 'unsaid'],
    ['whereabouts', 'surroundings', 'mood', 'happening', 'happenings', 'remembering', 'forgetting'],
  ].flat(),
)

/** No text may have one of these. A phrase stands for a sentence that has a plain form. */
const RETIRED_PHRASES = [
  /What we (remember|compute)/,
  /What may be asked/,
  /\banew\b/i,
  /\bsomebody\b/i,
  /\bwhoever\b/i,
  /\bwish(es|ed)?\b/i,
  /\b(is|are|was|were) (un)?told\b/i,
  /\bfor ever\b/i,
]

/** The names in a text: comments, strings and what templates say are left out. */
function namesIn(text: string): string[] {
  const code = text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*/g, '')
    .replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, '')
    .replace(/`(?:\\.|[^`\\])*`/g, (template) => [...template.matchAll(/\$\{([^}]*)\}/g)].join(' '))
  return code.match(/[A-Za-z_$][\w$]*/g) ?? []
}

const partsOf = (name: string): string[] =>
  (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase())

test('no name has a retired word as a part', () => {
  const found = [...CODE, ...TESTS.filter((file) => file !== THIS_FILE)].flatMap((file) =>
    [...new Set(namesIn(read(file)))]
      .filter((name) => partsOf(name).some((part) => RETIRED_PARTS.has(part)))
      .map((name) => `${file}: ${name}`),
  )
  expect(found).toEqual([])
})

test('no text has a retired phrase', () => {
  const texts = [...CODE, 'schema.sql', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  const found = texts.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        RETIRED_PHRASES.some((phrase) => phrase.test(line)) ? [`${file}:${index + 1} ${line.trim()}`] : [],
      ),
  )
  expect(found).toEqual([])
})

test('names are read part by part', () => {
  expect(partsOf('listOfHTTPCalls')).toEqual(['list', 'of', 'http', 'calls'])
  expect(partsOf('is_open')).toEqual(['is', 'open'])
  expect(namesIn("const a = 'text' // comment\n/* comment */ b")).toEqual(['const', 'a', 'b'])
})
