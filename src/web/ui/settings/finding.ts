/** Search in the settings, and the titles of their sections. */
import { sentence } from '../words.ts'
import type { SettingsData } from './settings_queries.ts'

type Section = SettingsData['sections'][number]

/**
 * The settings whose path or description contains `query`. With `isChangedOnly`, settings that have their default value
 * are left out.
 */
export function sectionsWith(sections: readonly Section[], query: string, isChangedOnly: boolean): Section[] {
  const searchText = query.trim().toLowerCase()
  return sections
    .map((section) => ({
      ...section,
      settings: section.settings.filter(
        (setting) =>
          (!isChangedOnly || setting.source !== 'default') &&
          `${setting.path} ${setting.reason}`.toLowerCase().includes(searchText),
      ),
    }))
    .filter(({ settings }) => settings.length > 0)
}

/** The title of a section: `alert_channels` as `Alert channels`. */
export const sectionTitle = (name: string): string =>
  name === '' ? 'General' : sentence(name.replaceAll('_', ' '))
