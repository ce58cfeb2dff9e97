/** Reports unknown sections and settings, with a suggestion. */
import type { RawConfig } from '../raw_config.ts'
import { isTable } from '../setting.ts'
import { heading, SECTIONS, type Section } from '../settings.ts'
import { type Path, pathText } from './issues.ts'
import { closestMatch } from './suggest.ts'

/** Adds an issue for every key that is not a setting. The schema reports values of the wrong shape. */
export function checkUnknownKeys(raw: RawConfig): void {
  const known = new Set(SECTIONS.flatMap((section) => section.name || Object.keys(section.settings)))
  for (const [key, value] of Object.entries(raw.values)) {
    if (!known.has(key)) reportUnknownSection(raw, key, value)
  }
  for (const section of SECTIONS) {
    const value: unknown = raw.values[section.name]
    if (isTable(value)) checkTable(raw, section, [section.name], value)
    if (!Array.isArray(value)) continue
    for (const [index, entry] of value.entries()) checkTable(raw, section, [section.name, index], entry)
  }
}

function reportUnknownSection(raw: RawConfig, key: string, value: unknown): void {
  if (!isTable(value) && !Array.isArray(value)) {
    reportUnknownSetting(raw, [key], '')
    return
  }
  const named = SECTIONS.filter(({ name }) => name !== '')
  const suggestion = closestMatch(key, named, ({ name }) => name)
  const advice =
    suggestion === null
      ? `The sections are ${named.map(heading).join(', ')}.`
      : `Did you mean ${heading(suggestion)}?`
  raw.addIssue([key], 'unknown section', advice)
}

function checkTable(raw: RawConfig, section: Section, path: Path, table: unknown): void {
  if (!isTable(table)) return
  for (const key of Object.keys(table)) {
    if (!Object.hasOwn(section.settings, key)) reportUnknownSetting(raw, [...path, key], section.name)
  }
}

function reportUnknownSetting(raw: RawConfig, path: Path, section: string): void {
  const suggestion = suggestSetting(String(path.at(-1)), section)
  const advice =
    suggestion === null ? adviceFor(section) : `Did you mean ${suggestionText(suggestion, path, section)}?`
  raw.addIssue(path, 'unknown setting', advice)
}

type Suggestion = Readonly<{ section: Section; key: string }>

/** The closest name in the same section, or else in any other. */
function suggestSetting(word: string, section: string): Suggestion | null {
  const all = SECTIONS.flatMap((known) => Object.keys(known.settings).map((key) => ({ section: known, key })))
  const inSection = all.filter((candidate) => candidate.section.name === section)
  return closestMatch(word, inSection, ({ key }) => key) ?? closestMatch(word, all, ({ key }) => key)
}

/** The whole path within the same section or in a plain section; the key and heading in a list section. */
function suggestionText({ section, key }: Suggestion, path: Path, from: string): string {
  if (section.name === from) return pathText([...path.slice(0, -1), key])
  if (section.name === '') return `${key} at the top of the file, before the first section`
  return section.list ? `${key} in ${heading(section)}` : pathText([section.name, key])
}

function adviceFor(name: string): string {
  const section = SECTIONS.find((known) => known.name === name && name !== '')
  if (section === undefined)
    return `The only setting at the top level is base_url; the others are in ${headings()}.`
  return `${heading(section)} has ${Object.keys(section.settings).join(', ')}.`
}

const headings = (): string =>
  SECTIONS.filter(({ name }) => name !== '')
    .map(heading)
    .join(', ')
