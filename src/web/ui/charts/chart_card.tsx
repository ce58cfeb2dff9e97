/** A card with a chart that can be shown as a table and exported. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { AnnotationDialog } from '../annotations/annotation_dialog.tsx'
import { isOfDays, useAnnotations } from '../annotations/annotation_query.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { QueryView } from '../parts/query_view.tsx'
import type { QueryResult } from '../queries.ts'
import { useQueryParams } from '../scope.ts'
import { useSession } from '../session.ts'
import { Figure } from './figure.tsx'
import type { Graph } from './graph.ts'
import { chartBody, savePicture } from './picture.ts'

/** URLs of the CSV files. `wide` has one column per series, `lastMonth` the last calendar month. `others`: files of the card’s other metrics. */
type CsvUrls = {
  csv: string
  wide?: string
  lastMonth?: string
  others?: readonly { title: string; url: string }[]
}

type ExportMenuProps = {
  csvUrls: CsvUrls
  savePng: (() => void) | null
  /** Adds an item that opens the dialog of an annotation. */
  onAnnotate?: (() => void) | null
}

export const ExportMenu = ({
  csvUrls: { csv, wide, lastMonth, others = [] },
  savePng,
  onAnnotate = null,
}: ExportMenuProps): JSX.Element => (
  <Popover
    buttonClass="button plain icon"
    class="menu"
    title={onAnnotate ? 'Export and annotate' : 'Export'}
    label={<Icon name="download" />}
  >
    {(close) => (
      <>
        <a class="item" href={csv} download onClick={close}>
          <Icon name="table" class="small-icon" /> {wide ? 'CSV, one row per figure' : 'CSV'}
        </a>
        {wide && (
          <a class="item" href={wide} download onClick={close}>
            <Icon name="table" class="small-icon" /> CSV, one column per series
          </a>
        )}
        {lastMonth && (
          <a class="item" href={lastMonth} download onClick={close}>
            <Icon name="table" class="small-icon" /> CSV, totals of last month
          </a>
        )}
        {others.map(({ title, url }) => (
          <a key={url} class="item" href={url} download onClick={close}>
            <Icon name="table" class="small-icon" /> CSV: {title}
          </a>
        ))}
        {savePng && (
          <button
            type="button"
            class="item"
            onClick={() => {
              savePng()
              close()
            }}
          >
            <Icon name="image" class="small-icon" /> PNG image
          </button>
        )}
        {onAnnotate && (
          <button
            type="button"
            class="item"
            onClick={() => {
              onAnnotate()
              close()
            }}
          >
            <Icon name="flag" class="small-icon" /> Add annotation …
          </button>
        )}
      </>
    )}
  </Popover>
)

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
