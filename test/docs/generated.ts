/** The documents, or parts of them, that are made from the code. `npm run docs` writes them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { commentedConfig, settingsTable } from '../../src/config/documents.ts'
import { cliReference } from './cli_reference.ts'
import { exportReference } from './export_reference.ts'
import { metricsReference } from './metrics_reference.ts'
import { webhookEventsReference } from './webhook_events.ts'

/** Loading the commands is asynchronous. */
const commands = await cliReference()

const ROOT = new URL('../../', import.meta.url)

/** A file, and what its text becomes: `written` gets the text as it is. */
type Document = Readonly<{ file: string; written: (text: string) => string }>

/** Every document that has something generated in it. */
export const DOCUMENTS: readonly Document[] = [
  { file: 'config.example.toml', written: () => commentedConfig() },
  { file: 'docs/configuration.md', written: (text) => between(text, 'settings', settingsTable()) },
  { file: 'docs/cli.md', written: (text) => between(text, 'commands', commands) },
  { file: 'docs/export.md', written: (text) => between(text, 'tables', exportReference()) },
  { file: 'docs/metrics.md', written: (text) => between(text, 'metrics', metricsReference()) },
  { file: 'docs/webhook-events.md', written: (text) => between(text, 'events', webhookEventsReference()) },
]

/** The text of a document as it is in the working tree. */
export const textOf = ({ file }: Document): string => readFileSync(new URL(file, ROOT), 'utf8')

/** Writes every document anew. */
export function writeDocuments(): void {
  for (const document of DOCUMENTS)
    writeFileSync(new URL(document.file, ROOT), document.written(textOf(document)))
}

/**
 * `text` with `content` between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws Error when the text lacks these two lines.
 */
function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
  const from = text.indexOf(start)
  const until = text.indexOf(end)
  if (from < 0 || until < from) throw new Error(`there is no ${start.trim()} … ${end.trim()}`)
  return `${text.slice(0, from + start.length)}${content}${text.slice(until)}`
}
