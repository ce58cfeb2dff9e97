/** The sections of the settings, each loaded when it is first shown. */
import type { FunctionComponent } from 'preact'
import { latePart } from '../loading/late.tsx'
import { SECTIONS, type SectionName } from './sections.ts'

const section = (load: () => Promise<FunctionComponent>) => latePart('This section', load)

export const SECTION_COMPONENTS = {
  apps: section(() => import('./apps.tsx').then((module) => module.Apps)),
  api: section(() => import('./access/api.tsx').then((module) => module.Api)),
  devices: section(() => import('./devices/devices.tsx').then((module) => module.Devices)),
  annotations: section(() =>
    import('../annotations/annotations.tsx').then((module) => module.AnnotationsSection),
  ),
  alerts: section(() => import('./alerts/alerts.tsx').then((module) => module.Alerts)),
  widgets: section(() => import('./widgets/widgets.tsx').then((module) => module.WidgetsSection)),
  webhooks: section(() => import('./webhooks/webhooks.tsx').then((module) => module.Webhooks)),
  apple: section(() => import('./connect/apple.tsx').then((module) => module.Apple)),
  import: section(() => import('./import.tsx').then((module) => module.Import)),
  jobs: section(() => import('./jobs.tsx').then((module) => module.Jobs)),
  guests: section(() => import('./access/share_links.tsx').then((module) => module.Guests)),
  tokens: section(() => import('./access/tokens.tsx').then((module) => module.Tokens)),
  security: section(() => import('./access/security.tsx').then((module) => module.Security)),
  configuration: section(() => import('./configuration.tsx').then((module) => module.ConfigurationSection)),
  system: section(() => import('./system.tsx').then((module) => module.System)),
  about: section(() => import('./about.tsx').then((module) => module.About)),
} satisfies Record<SectionName, FunctionComponent>

/** The section at a path of the settings, which begins with the first; undefined if there is no such section. */
export function sectionAt(path: string) {
  const [, , name = SECTIONS[0].name] = path.split('/')
  const section = SECTIONS.find((one) => one.name === name)
  return section && SECTION_COMPONENTS[section.name]
}
