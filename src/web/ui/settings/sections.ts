/** The sections of the settings, in the order of their list. */
import { CHART_PARAMS } from '../charts/card_params.ts'
import { cardParams, type ViewParams } from '../frame/unused_params.ts'
import type { IconName } from '../parts/icons.tsx'
import { ANY } from '../scope.ts'

export const SECTIONS = [
  { name: 'apps', title: 'Apps', icon: 'app' },
  { name: 'api', title: 'API', icon: 'key' },
  { name: 'devices', title: 'Devices', icon: 'app' },
  { name: 'annotations', title: 'Annotations', icon: 'flag' },
  { name: 'alerts', title: 'Alerts', icon: 'bell' },
  { name: 'widgets', title: 'Widgets', icon: 'chart' },
  { name: 'webhooks', title: 'Webhooks', icon: 'send' },
  { name: 'apple', title: 'Apple', icon: 'events' },
  { name: 'import', title: 'Import', icon: 'download' },
  { name: 'jobs', title: 'Jobs', icon: 'clock' },
  { name: 'guests', title: 'Guests', icon: 'share' },
  { name: 'tokens', title: 'Tokens', icon: 'lock' },
  { name: 'security', title: 'Security', icon: 'verified' },
  { name: 'configuration', title: 'Configuration', icon: 'settings' },
  { name: 'system', title: 'System', icon: 'today' },
  { name: 'about', title: 'About', icon: 'info' },
] as const satisfies { name: string; title: string; icon: IconName }[]

export type SectionName = (typeof SECTIONS)[number]['name']

/** The URL parameters of sections, known before the code of a section is there. */
export const SECTION_PARAMS: Partial<Record<SectionName, ViewParams>> = {
  devices: cardParams(['labels'], { ...CHART_PARAMS, of: ['identify', 'attribute'] }),
  configuration: { find: ANY, set: ['1'] },
}
