/** Search in the settings. */
import type { StatusData } from './status_queries.ts'

type Section = StatusData['sections'][number]

/** The settings whose path or description contains `word`; with `isOwn`, only those that are set. */
export function sectionsWith(sections: readonly Section[], word: string, isOwn: boolean): Section[] {
  const wanted = word.trim().toLowerCase()
  return sections
    .map((section) => ({
      ...section,
      settings: section.settings.filter(
        (setting) =>
          (!isOwn || setting.source !== 'default') &&
          `${setting.path} ${setting.reason}`.toLowerCase().includes(wanted),
      ),
    }))
    .filter(({ settings }) => settings.length > 0)
}
