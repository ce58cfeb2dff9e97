/** Widgets: their tokens, and the figures that a token may read. */
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { SeriesReader } from '../../metrics/series/series.ts'
import type { Store } from '../../store/store.ts'
import { openWidgetFigures, type WidgetFigures, type WidgetMetricName } from './figures.ts'
import { openWidgetTokens, type WidgetToken } from './tokens.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  series: SeriesReader
  base_url: () => string | undefined
}

/** What a query asks of a token: some of its figures and apps; null for all. Apps are ids or bundle ids. */
type Narrowed = { metrics?: readonly string[] | null; apps?: readonly string[] | null }

export type Widgets = ReturnType<typeof openWidgets>

/** Opens widgets. */
export function openWidgets({ store, clock, apps, organizations, series, base_url }: Deps) {
  const tokens = openWidgetTokens(store, clock)
  const figures = openWidgetFigures({ series, clock })

  /**
   * The figures of a token, narrowed by a query, which never widens.
   *
   * @throws Refusal 404 `unknown_widget` if its organization is gone, 404 `unknown_app`, 404 `unknown_metric`
   */
  function read(token: WidgetToken, narrowed: Narrowed = {}): Promise<WidgetFigures> {
    const organization = organizations.get(token.organization_id)
    if (organization === null || organization.gone_at !== null)
      throw new Refusal(404, 'unknown_widget', 'there is no such widget')
    return figures.read({
      organization,
      apps: appsOf(token, narrowed.apps ?? null),
      metrics: metricsOf(token, narrowed.metrics ?? null),
    })
  }

  function appsOf(token: WidgetToken, wanted: readonly string[] | null): readonly App[] {
    const own = apps
      .list()
      .filter((app) => app.organization_id === token.organization_id)
      .filter(({ id }) => token.apps === null || token.apps.includes(id))
    if (wanted === null) return own
    const found = wanted.map((name) => {
      const app = own.find((one) => one.id === name || one.bundle_id === name)
      if (app) return app
      throw new Refusal(404, 'unknown_app', `this widget has no app ${name.slice(0, 60)}`)
    })
    // The figures of an app that is named twice would count twice.
    return [...new Set(found)]
  }

  return { tokens, read, url: () => base_url() ?? '' }
}

function metricsOf(token: WidgetToken, wanted: readonly string[] | null): readonly WidgetMetricName[] {
  if (wanted === null) return token.metrics
  return wanted.map((name) => {
    const found = token.metrics.find((one) => one === name)
    if (found !== undefined) return found
    const words = `this widget has no figure ${name.slice(0, 40)}; it has ${token.metrics.join(', ')}`
    throw new Refusal(404, 'unknown_metric', words)
  })
}
