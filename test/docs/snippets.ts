/** Reads the commands and the configuration that the documents show. */
import { readdirSync, readFileSync } from 'node:fs'

const ROOT = new URL('../../', import.meta.url)

/** README.md and every page below docs, relative to the root of the repository. */
export const PAGES = [
  'README.md',
  ...readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
]

/** A fenced block of a page. `line` is that of its first line. */
export type Block = { page: string; line: number; language: string; text: string }

/** The fenced blocks of a page, also indented ones. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(page, ROOT), 'utf8')
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map((found) => {
    const [, indent = '', language = '', body = ''] = found
    const line = text.slice(0, found.index).split('\n').length + 1
    return { page, line, language, text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

/** A command of a page as words, with the variables before it. */
export type Command = { page: string; line: number; env: Record<string, string>; words: string[] }

/** The commands of a page's `sh` blocks. Lines that end with a backslash are joined, comments are left out. */
export function commandsOf(page: string): Command[] {
  return blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text, line }) =>
      text
        .replaceAll(/\\\n\s*/g, ' ')
        .split('\n')
        // Where the input comes from and the output goes is the shell's part.
        .map((one) => one.replace(/ [<>] \S+$/, ''))
        .map((one) => wordsOf(one))
        .filter((words) => words.length > 0)
        .map((words) => ({ page, line, ...split(words) })),
    )
}

/** A page without the content of its blocks, whose lines are empty. */
export const textOf = (page: string): string =>
  readFileSync(new URL(page, ROOT), 'utf8').replaceAll(/^ *```.*?^ *```$/gms, (block) =>
    block.replaceAll(/[^\n]/g, ''),
  )

/** The commands in the text of a page: code spans that begin with the name of the program. */
export function mentionsOf(page: string): Command[] {
  const text = textOf(page)
  return [...text.matchAll(/`(windfall [^`]+)`/g)].map((found) => {
    const line = text.slice(0, found.index).split('\n').length
    return { page, line, ...split(wordsOf(found[1] ?? '')) }
  })
}

function split(words: string[]): Pick<Command, 'env' | 'words'> {
  const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word))
  const assignments = words.slice(0, first).map((word) => /^([A-Z_]+)=(.*)$/s.exec(word))
  return {
    env: Object.fromEntries(assignments.map((parts) => [parts?.[1] ?? '', parts?.[2] ?? ''])),
    words: words.slice(first),
  }
}

/** Splits a line as a shell does, without expansions; a comment ends it. */
export function wordsOf(line: string): string[] {
  const tokens = line.matchAll(/\s+|#.*$|((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+)/g)
  const words: string[] = []
  for (const [token, word] of tokens) {
    if (token.startsWith('#')) break
    if (word !== undefined)
      words.push(word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, a, b, c) => a ?? b ?? c))
  }
  return words
}
