/** The settings view. Each section has its own URL. */
import type { FunctionComponent, JSX } from 'preact'
import { AnnotationsSection } from '../annotations/annotations.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import { Empty } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { About } from './about.tsx'
import { Api } from './access/api.tsx'
import { Security } from './access/security.tsx'
import { Guests } from './access/share_links.tsx'
import { Tokens } from './access/tokens.tsx'
import { Alerts } from './alerts/alerts.tsx'
import { Apps } from './apps.tsx'
import { ConfigurationSection, SETTINGS_PARAMS } from './configuration.tsx'
import { Apple } from './connect/apple.tsx'
import { Devices, LABEL_PARAMS } from './devices/devices.tsx'
import { Import } from './import.tsx'
import { Jobs } from './jobs.tsx'
import { SectionList } from './section_list.tsx'
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

/** The URL parameters of the sections that have any. */
const SECTION_PARAMS: Partial<Record<SectionName, ViewParams>> = {
  devices: LABEL_PARAMS,
  configuration: SETTINGS_PARAMS,
}

/** `section` is from the URL; the default is the first section. */
export function Settings({ section }: { section?: string }): JSX.Element {
  const selected = SECTIONS.find(({ name }) => name === (section ?? SECTIONS[0].name))
  const SectionView = selected && SECTION_COMPONENTS[selected.name]
  return (
    <main class="page settings" id="content">
      <UnusedNotice params={selected && SECTION_PARAMS[selected.name]} />
      <header class="page-head">
        <Title>{(section && selected?.title) || 'Settings'}</Title>
      </header>
      <SectionList current={selected?.name ?? ''} />
      <div class="section">
        {SectionView ? <SectionView /> : <Empty icon="question" title="Section not found" />}
      </div>
    </main>
  )
}
