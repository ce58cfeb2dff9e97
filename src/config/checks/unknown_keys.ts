/** What we compute: keys that mean nothing, and what was probably meant. */
import type { Draft } from '../raw_config.ts'
import { isTable } from '../setting.ts'
import { heading, SECTIONS, type Section } from '../settings.ts'
import { type Path, pathText } from './issues.ts'
import { nearest } from './suggest.ts'

/** Complains of every key that is no setting, section by section. What has the wrong shape is left to the schema. */
export function findUnknown(draft: Draft): void {
  const known = new Set(SECTIONS.flatMap((section) => section.name || Object.keys(section.settings)))
  for (const [key, value] of Object.entries(draft.values)) {
    if (!known.has(key)) complainOfTop(draft, key, value)
  }
  for (const section of SECTIONS) {
    const value: unknown = draft.values[section.name]
    if (isTable(value)) findIn(draft, section, [section.name], value)
    if (!Array.isArray(value)) continue
    for (const [index, entry] of value.entries()) findIn(draft, section, [section.name, index], entry)
  }
}

function complainOfTop(draft: Draft, key: string, value: unknown): void {
  if (!isTable(value) && !Array.isArray(value)) {
    complainOfSetting(draft, [key], '')
    return
  }
  const named = SECTIONS.filter(({ name }) => name !== '')
  const meant = nearest(key, named, ({ name }) => name)
  const advice =
    meant === null ? `There are ${named.map(heading).join(', ')}.` : `Did you mean ${heading(meant)}?`
  draft.complain([key], 'unknown section', advice)
}

function findIn(draft: Draft, section: Section, path: Path, table: unknown): void {
  if (!isTable(table)) return
  for (const key of Object.keys(table)) {
    if (!Object.hasOwn(section.settings, key)) complainOfSetting(draft, [...path, key], section.name)
  }
}

function complainOfSetting(draft: Draft, path: Path, section: string): void {
  const meant = meantBy(String(path.at(-1)), section)
  const advice = meant === null ? adviceFor(section) : `Did you mean ${place(meant, path, section)}?`
  draft.complain(path, 'unknown setting', advice)
}

type Meant = Readonly<{ section: Section; key: string }>

/** The nearest name in the same section; failing that, in any other. */
function meantBy(word: string, section: string): Meant | null {
  const all = SECTIONS.flatMap((known) => Object.keys(known.settings).map((key) => ({ section: known, key })))
  const here = all.filter((candidate) => candidate.section.name === section)
  return nearest(word, here, ({ key }) => key) ?? nearest(word, all, ({ key }) => key)
}

/** Within its own section a setting is named by its whole path, in a list of another by its heading. */
function place({ section, key }: Meant, path: Path, from: string): string {
  if (section.name === from) return pathText([...path.slice(0, -1), key])
  return section.list
    ? `${key} in ${heading(section)}`
    : pathText(section.name === '' ? [key] : [section.name, key])
}

function adviceFor(name: string): string {
  const section = SECTIONS.find((known) => known.name === name && name !== '')
  if (section === undefined) return `Above all sections there is base_url; the rest stands in ${headings()}.`
  return `${heading(section)} knows ${Object.keys(section.settings).join(', ')}.`
}

const headings = (): string =>
  SECTIONS.filter(({ name }) => name !== '')
    .map(heading)
    .join(', ')
