/** Settings, Configuration: every setting with value and source. Read-only. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { CodeProse } from '../parts/code_prose.tsx'
import { CommandCopy } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { ANY, useQueryParams } from '../scope.ts'
import { sectionsWith, sectionTitle } from './finding.ts'
import { type SettingsData, useSettings } from './settings_queries.ts'

type Section = SettingsData['sections'][number]
type Setting = Section['settings'][number]

const shownValue = ({ value, is_secret, is_set }: Setting): string => {
  if (is_secret) return is_set ? 'Set (secret)' : 'Not set'
  if (value === null || value === undefined) return 'Not set'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const SOURCES: Record<Setting['source'], string> = {
  default: 'Default',
  file: 'File',
  environment: 'Environment',
  'secret file': 'Key file',
}

const Row = ({ setting }: { setting: Setting }): JSX.Element => (
  <tr>
    <th scope="row">
      <code class="ink" title={setting.path}>
        {setting.key}
      </code>
      <p class="tiny quiet setting-reason">
        <CodeProse text={setting.reason} /> {setting.needs_restart && 'Takes effect after a restart.'}
      </p>
    </th>
    <td class="wordy">
      <code class={setting.source === 'default' ? 'quiet' : ''}>{shownValue(setting)}</code>
    </td>
    <td class="nowrap">
      <span class={setting.source === 'default' ? 'badge' : 'badge accent'}>{SOURCES[setting.source]}</span>
      {setting.place && <div class="tiny quiet">{setting.place}</div>}
    </td>
  </tr>
)

const SectionCard = ({ section }: { section: Section }): JSX.Element => (
  <Card title={sectionTitle(section.name)}>
    <p class="small quiet">
      <CodeProse text={section.reason} />
    </p>
    <Scroll label={sectionTitle(section.name)}>
      <table class="table narrow-stacked">
        <TableHead headings={[{ title: 'Setting' }, { title: 'Value' }, { title: 'Source' }]} />
        <tbody>
          {section.settings.map((setting) => (
            <Row key={setting.path} setting={setting} />
          ))}
        </tbody>
      </table>
    </Scroll>
  </Card>
)

/** The URL parameters of the section. */
export const SETTINGS_PARAMS = { find: ANY, set: ['1'] }

export function ConfigurationSection(): JSX.Element {
  const [params, change] = useQueryParams()
  const isChangedOnly = params.set === '1'
  return (
    <QueryView result={useSettings()} height={640}>
      {(settings) => {
        const sections = sectionsWith(settings.sections, params.find ?? '', isChangedOnly)
        return (
          <div class="section">
            <p class="small quiet">
              Read-only. Change settings in{' '}
              {settings.config_file ? <code>{settings.config_file}</code> : 'config.toml'} or with environment
              variables.
            </p>
            <search class="row">
              <input
                class="input slim grow"
                type="search"
                placeholder="Search settings"
                aria-label="Search settings"
                value={params.find ?? ''}
                onInput={(event) => change({ find: event.currentTarget.value })}
              />
              <button
                type="button"
                class="chip"
                aria-pressed={isChangedOnly}
                onClick={() => change({ set: isChangedOnly ? null : 1 })}
              >
                <Icon name="filter" /> Changed only
              </button>
            </search>
            {!settings.config_file && (
              <div class="stack-s">
                <p class="small quiet">There is no config file. This command writes one:</p>
                <CommandCopy text="windfall init" label="the command that writes a config file" />
              </div>
            )}
            {sections.length === 0 && <Empty icon="search" title="No matching settings" />}
            {sections.map((section) => (
              <SectionCard key={section.name} section={section} />
            ))}
          </div>
        )
      }}
    </QueryView>
  )
}
