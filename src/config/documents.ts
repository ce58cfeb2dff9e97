/** Documentation of the settings: the commented config.toml and the table in docs/configuration.md. */
import { type Path, pathText } from './checks/issues.ts'
import { type Setting, tomlText } from './setting.ts'
import { heading, SECTIONS, type Section, variableName } from './settings.ts'

const WIDTH = 96

const HEADER = `# Windfall's settings. Each has a default, so this file may be empty or missing. A line that begins
# with # and no space is a setting at its default, or an example if it has none: remove the # to
# change it. A [section] can be in the file once: add its settings below the heading that is here.
# Environment variables override this file: WINDFALL_SERVER_PORT is the port of [server].
# \`windfall check\` validates the file; \`windfall reload\` makes a running server read it again.`

/**
 * A config.toml with every setting, commented out at its default. Unchanged, it has the same effect as no file.
 *
 * @param bundle_id an app to declare in the file
 * @param values settings to write instead of their defaults, by path, such as `store.path`
 */
export function commentedConfig(bundle_id?: string, values: Readonly<Record<string, string>> = {}): string {
  const sections = SECTIONS.map((section) =>
    sectionText(section, section.name === 'apps' ? bundle_id : undefined, values),
  )
  return `${[HEADER, ...sections].join('\n\n')}\n`
}

function sectionText(
  section: Section,
  bundle_id: string | undefined,
  values: Readonly<Record<string, string>>,
): string {
  const settings = Object.entries(section.settings).map(([key, setting]) => {
    const value = key === 'bundle_id' ? bundle_id : values[pathText([section.name, key])]
    const line =
      value === undefined ? `#${key} = ${defaultOrExample(setting)}` : `${key} = ${tomlText(value)}`
    return `${wrapText(commentLines(setting))}\n${line}`
  })
  if (section.name === '') return settings.join('\n\n')
  const isCommented = section.list && bundle_id === undefined
  const head = `${wrapText(section.reason)}\n${isCommented ? '#' : ''}${heading(section)}`
  return [head, ...settings].join('\n\n')
}

const defaultOrExample = ({ fallback, example }: Setting): string =>
  fallback === null || fallback === undefined ? (example ?? '') : tomlText(fallback)

function commentLines({ reason, otherwise, restart }: Setting, withDefault = true): string {
  const parts = [
    reason,
    withDefault && otherwise && `Default: ${otherwise}.`,
    restart && 'Requires a restart.',
  ]
  return parts.filter(Boolean).join(' ')
}

/** The text as comment lines. */
function wrapText(text: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length >= WIDTH) lines.push(`# ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}

/** Every setting as a Markdown table: its path, default, environment variable and description. */
export function settingsTable(): string {
  const head = ['| Setting | Default | Environment variable | Description |', '|---|---|---|---|']
  return [...head, ...SECTIONS.flatMap(sectionRows)].join('\n')
}

/** One row for the whole list, if the section is a list, then one row for each setting. */
function sectionRows(section: Section): string[] {
  const { name, list, reason, settings } = section
  const whole = tableRow([name], 'none', `${reason} The variable takes a TOML array of inline tables.`)
  const each = Object.entries(settings).map(([key, setting]) => {
    const above = list ? [name, 0] : [name].filter(Boolean)
    return tableRow([...above, key], defaultText(setting), commentLines(setting, false))
  })
  return list ? [whole, ...each] : each
}

function tableRow(path: Path, fallback: string, reason: string): string {
  return `| ${[`\`${pathText(path)}\``, fallback, `\`${variableName(path)}\``, reason].join(' | ')} |`
}

function defaultText({ fallback, otherwise }: Setting): string {
  if (otherwise !== undefined) return otherwise
  if (fallback === undefined) return 'required'
  return fallback === null ? 'none' : `\`${tomlText(fallback)}\``
}
