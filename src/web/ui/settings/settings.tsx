/** The settings view. Each section has its own URL. */
import type { FunctionComponent, JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { AnnotationsSection } from '../annotations/annotations.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'
import { About } from './about.tsx'
import { Api } from './access/api.tsx'
import { Security } from './access/security.tsx'
import { Guests } from './access/share_links.tsx'
import { Tokens } from './access/tokens.tsx'
import { Alerts } from './alerts/alerts.tsx'
import { Apps } from './apps.tsx'
import { ConfigurationSection } from './configuration.tsx'
import { Apple } from './connect/apple.tsx'
import { Devices } from './devices/devices.tsx'
import { Import } from './import.tsx'
import { Jobs } from './jobs.tsx'
import { SECTIONS, type SectionName } from './sections.ts'
import { System } from './system.tsx'
import { Webhooks } from './webhooks/webhooks.tsx'
import { WidgetsSection } from './widgets/widgets.tsx'

const SECTION_COMPONENTS: Record<SectionName, FunctionComponent> = {
  apps: Apps,
  api: Api,
  devices: Devices,
  annotations: AnnotationsSection,
  alerts: Alerts,
  widgets: WidgetsSection,
  webhooks: Webhooks,
  apple: Apple,
  import: Import,
  jobs: Jobs,
  guests: Guests,
  tokens: Tokens,
  security: Security,
  configuration: ConfigurationSection,
  system: System,
  about: About,
}

function List({ current }: { current: string }): JSX.Element {
  const { href } = useScope()
  const { route } = useLocation()
  return (
    <>
      <nav class="sections nav" aria-label="Sections">
        {SECTIONS.map(({ name, title, icon }) => (
          <a key={name} href={href(`/settings/${name}`)} aria-current={name === current ? 'page' : undefined}>
            <Icon name={icon} />
            {title}
          </a>
        ))}
      </nav>
      <label class="sections-pick">
        <span class="spoken">Section</span>
        <select
          class="select"
          value={current}
          onChange={(event) => route(href(`/settings/${event.currentTarget.value}`))}
        >
          {SECTIONS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

/** `section` is from the URL; the default is the first section. */
export function Settings({ section }: { section?: string }): JSX.Element {
  const selected = SECTIONS.find(({ name }) => name === (section ?? SECTIONS[0].name))
  const SectionView = selected && SECTION_COMPONENTS[selected.name]
  return (
    <main class="page settings" id="content">
      <header class="page-head">
        <Title>{(section && selected?.title) || 'Settings'}</Title>
      </header>
      <List current={selected?.name ?? ''} />
      <div class="section">
        {SectionView ? <SectionView /> : <Empty icon="question" title="Section not found" />}
      </div>
    </main>
  )
}
