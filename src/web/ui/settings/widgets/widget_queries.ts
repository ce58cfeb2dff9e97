/** Queries of widgets and badges. Owner only. */
import type { InferOutput } from 'valibot'
import type { CreatedWidgetAnswer, WidgetAnswer, WidgetsAnswer } from '../../../../api/alerts/widgets.ts'
import { client, invalidate, type QueryResult, queryKey, useQuery } from '../../queries.ts'

export type Widget = InferOutput<typeof WidgetAnswer>
export type Widgets = InferOutput<typeof WidgetsAnswer>
export type CreatedWidget = InferOutput<typeof CreatedWidgetAnswer>
/** What the widget reads: flat JSON, which docs/widgets.md describes. */
export type Figures = Record<string, unknown> & {
  name: string
  updated_at_text: string
  stale: boolean
  metrics: string[]
}

export const WIDGETS_PATH = '/api/v1/widgets'
const FIGURES_MS = 60_000

export const widgetPath = (id: string, action?: string): string =>
  `${WIDGETS_PATH}/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`

export const useWidgets = (): QueryResult<Widgets> => useQuery<Widgets>(WIDGETS_PATH)
export const useFigures = (id: string): QueryResult<Figures> =>
  useQuery<Figures>(widgetPath(id, 'figures'), {}, { interval_ms: FIGURES_MS })

/** Removes a widget from the list. Its figures cannot be read again. */
export const forgetWidget = (id: string): void =>
  void client.setQueryData<Widgets>(
    queryKey(WIDGETS_PATH),
    (before) => before && { ...before, widgets: before.widgets.filter((one) => one.id !== id) },
  )

/** Reads the widgets again, after a change. */
export const refreshWidgets = (): Promise<void> => invalidate(WIDGETS_PATH)
