/** A card with a chart that can be shown as a table and exported. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { AnnotationDialog } from '../annotations/annotation_dialog.tsx'
import { isOfDays, useAnnotations } from '../annotations/annotation_query.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { QueryView } from '../parts/query_view.tsx'
import type { QueryResult } from '../queries.ts'
import { useQueryParams } from '../scope.ts'
import { useSession } from '../session.ts'
import { type CsvUrls, ExportMenu } from './export_menu.tsx'
import { Figure } from './figure.tsx'
import type { Graph } from './graph.ts'
import { chartBody, savePicture } from './picture.ts'

const TableButton = ({ isTable, onTurn }: { isTable: boolean; onTurn: () => void }): JSX.Element => (
  <button
    type="button"
    class="button plain icon"
    aria-pressed={isTable}
    aria-label={isTable ? 'View as chart' : 'View as table'}
    onClick={onTurn}
  >
    <Icon name={isTable ? 'chart' : 'table'} />
  </button>
)

/** The URL parameters of a card with a chart. */
export const CHART_PARAMS = { as: ['table'] } as const

/** Reads and changes the URL parameters of a card. Their names start with `paramPrefix`, unless that is empty. */
export function useCardParams(paramPrefix: string): [(param: string) => string | null, typeof change] {
  const [params, setParam] = useQueryParams()
  const paramName = (param: string): string => (paramPrefix === '' ? param : `${paramPrefix}.${param}`)
  const change = (param: string, value: string | null): void => setParam({ [paramName(param)]: value })
  return [(param) => params[paramName(param)] ?? null, change]
}

type ChartCardProps<Answer> = {
  /** Prefix of the card’s URL parameters; empty for the only card of a view. */
  paramPrefix: string
  /** Name of exported files. */
  name: string
  title: ComponentChildren
  /** The title as plain text. */
  textTitle: string
  about?: ComponentChildren
  tools?: ComponentChildren
  class?: string
  cardRef?: (element: Element | null) => void
  result: QueryResult<Answer>
  csvUrls: CsvUrls
  height: number
  /** Above the chart, `headHeight` pixels high. */
  head?: (answer: Answer) => ComponentChildren
  headHeight?: number
  graphOf: (answer: Answer) => Graph
  emptyText: (answer: Answer) => string
  foot?: (answer: Answer) => ComponentChildren
  /** Subtitle of the exported image. */
  subtitle: (answer: Answer) => string
  /** Below the chart. */
  children?: ComponentChildren
}

/** The graph; null without figures. Annotations are requested before the figures, so that no chart is drawn twice. */
function useGraph<Answer>(data: Answer | undefined, graphOf: (answer: Answer) => Graph): Graph | null {
  useAnnotations()
  return data === undefined ? null : graphOf(data)
}

export function ChartCard<Answer>(props: ChartCardProps<Answer>): JSX.Element {
  const { result, height, textTitle } = props
  const [param, change] = useCardParams(props.paramPrefix)
  const isTable = param('as') === 'table'
  const canvas = useRef<HTMLCanvasElement | null>(null)
  const onCanvas = (made: HTMLCanvasElement | null): void => {
    canvas.current = made
  }
  const { data } = result
  const [isAnnotating, setAnnotating] = useState(false)
  const graph = useGraph(data, props.graphOf)
  const canAnnotate = useSession().state === 'owner' && graph !== null && isOfDays(graph.on)
  const savePng = (): void => {
    if (!canvas.current || data === undefined || graph === null) return
    const text = { title: textTitle, subtitle: props.subtitle(data), name: props.name }
    savePicture(text, chartBody(canvas.current, graph))
  }
  return (
    <Card
      title={props.title}
      plainTitle={textTitle}
      class={props.class ?? ''}
      {...(props.cardRef && { cardRef: props.cardRef })}
      about={props.about}
      tools={
        <>
          {props.tools}
          <TableButton isTable={isTable} onTurn={() => change('as', isTable ? null : 'table')} />
          <ExportMenu
            csvUrls={props.csvUrls}
            savePng={isTable ? null : savePng}
            onAnnotate={canAnnotate ? () => setAnnotating(true) : null}
          />
        </>
      }
      foot={data !== undefined && props.foot?.(data)}
    >
      <QueryView result={result} height={height + (props.headHeight ?? 0)}>
        {(answer) => (
          <>
            {props.head?.(answer)}
            <Figure
              graph={graph ?? props.graphOf(answer)}
              title={textTitle}
              isTable={isTable}
              height={height}
              emptyText={props.emptyText(answer)}
              onCanvas={onCanvas}
            />
          </>
        )}
      </QueryView>
      {props.children}
      {isAnnotating && graph !== null && (
        <AnnotationDialog day={graph.on.at(-1) ?? ''} onClose={() => setAnnotating(false)} />
      )}
    </Card>
  )
}
