/** The steps of a page: the commands of its shell blocks and of its text, in order. */
import { readFileSync } from 'node:fs'
import { blocksOf, textOf } from '../snippets.ts'

/** A command of a page. `isMention`: it is a code span of the text, not a line of a block. */
export type Step = { page: string; line: number; text: string; isMention: boolean }

const ROOT = new URL('../../../', import.meta.url)
const SHELLS = ['sh', 'bash', 'console', 'shell']

/** A code span of the text that is a command. */
const MENTION = /`((?:[A-Z_]+=\S+ )*(?:windfall|npm|curl) [^`]+)`/g

/** The commands of a page’s shell blocks. A line that ends with a backslash continues on the next one. */
function blockSteps(page: string): Step[] {
  return blocksOf(page)
    .filter(({ language }) => SHELLS.includes(language))
    .flatMap(({ text, line, language }) => {
      // In a console block, commands follow a dollar sign, and the other lines are output.
      const lines = language === 'console' ? text.replaceAll(/^(?!\$ ).*$/gm, '') : text
      return [...lines.matchAll(/^(?:\$ )?((?:.*\\\n)*.+)$/gm)]
        .filter(([, command = '']) => !/^\s*(#|$)/.test(command))
        .map((found) => ({
          page,
          line: line + lines.slice(0, found.index).split('\n').length - 1,
          text: found[1] ?? '',
          isMention: false,
        }))
    })
}

/** The commands that the text of a page mentions. */
function mentionSteps(page: string): Step[] {
  const text = textOf(page)
  return [...text.matchAll(MENTION)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length,
    text: (found[1] ?? '').replaceAll(/\s+/g, ' '),
    isMention: true,
  }))
}

/** Whether a block shows the mentioned command, perhaps with arguments: then the mention only names it. */
const isNamed = (mention: Step, shown: readonly Step[]): boolean =>
  shown.some(({ text }) => text === mention.text || text.startsWith(`${mention.text} `))

/** The steps of each page. A mention of what a block of any page shows, or of what was mentioned before, is left out. */
export function stepsOf(pages: readonly string[]): Map<string, Step[]> {
  const shown = pages.flatMap(blockSteps)
  const mentioned = new Set<string>()
  return new Map(
    pages.map((page) => {
      const mentions = mentionSteps(page).filter((step) => {
        const isNew = !isNamed(step, shown) && !mentioned.has(step.text)
        mentioned.add(step.text)
        return isNew
      })
      return [page, [...blockSteps(page), ...mentions].sort((a, b) => a.line - b.line)]
    }),
  )
}

/** The lines in the blocks of a page that name no language. */
export function plainLinesOf(page: string): Pick<Step, 'page' | 'line' | 'text'>[] {
  let fence: string | null = null
  return readFileSync(new URL(page, ROOT), 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const text = line.trim()
      const isFence = text.startsWith('```')
      const isPlain = fence === '```' && !isFence
      if (isFence) fence = fence === null ? text : null
      return isPlain ? [{ page, line: index + 1, text }] : []
    })
}

/** Whether a file of this repository contains these words. */
export function fileNames(file: string, words: string): boolean {
  return readFileSync(new URL(file, ROOT), 'utf8').includes(words)
}
