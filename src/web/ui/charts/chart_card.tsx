/** A card with a chart that can be shown as a table and exported. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { QueryView } from '../parts/query_view.tsx'
import type { QueryResult } from '../queries.ts'
import { useQueryParams } from '../scope.ts'
import { Figure } from './figure.tsx'
import type { Graph } from './graph.ts'
import { chartBody, savePicture } from './picture.ts'

/** URLs of the CSV files. `wide` has one column per series. */
type Tables = { csv: string; wide?: string }

type ExportMenuProps = { tables: Tables; picture: (() => void) | null }

export const ExportMenu = ({ tables: { csv, wide }, picture }: ExportMenuProps): JSX.Element => (
  <Popover buttonClass="button plain icon" class="menu" title="Export" label={<Icon name="download" />}>
    {(close) => (
      <>
        <a class="item" href={csv} download onClick={close}>
          <Icon name="table" class="small-icon" /> CSV
        </a>
        {wide && (
          <a class="item" href={wide} download onClick={close}>
            <Icon name="table" class="small-icon" /> CSV, one column per series
          </a>
        )}
        {picture && (
          <button
            type="button"
            class="item"
            onClick={() => {
              picture()
              close()
            }}
          >
            <Icon name="image" class="small-icon" /> PNG image
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

/** The URL parameters of a card, prefixed with its key; unprefixed if it is the view's only card. */
export function useCardParams(onlyKey: string): [(word: string) => string | null, typeof change] {
  const [words, setParam] = useQueryParams()
  const named = (word: string): string => (onlyKey === '' ? word : `${onlyKey}.${word}`)
  const change = (word: string, value: string | null): void => setParam({ [named(word)]: value })
  return [(word) => words[named(word)] ?? null, change]
}

type ChartCardProps<Answer> = {
  /** Prefix of its URL parameters; empty for the only card of a view. */
  onlyKey: string
  /** Name of exported files. */
  name: string
  title: ComponentChildren
  /** The title as plain text. */
  textTitle: string
  about?: ComponentChildren
  tools?: ComponentChildren
  class?: string
  place?: (element: Element | null) => void
  result: QueryResult<Answer>
  tables: Tables
  height: number
  /** Above the chart, `headHeight` pixels high. */
  head?: (answer: Answer) => ComponentChildren
  headHeight?: number
  graphOf: (answer: Answer) => Graph
  nothing: (answer: Answer) => string
  foot?: (answer: Answer) => ComponentChildren
  /** Subtitle of the exported image. */
  under: (answer: Answer) => string
  /** Below the chart. */
  children?: ComponentChildren
}

export function ChartCard<Answer>(props: ChartCardProps<Answer>): JSX.Element {
  const { result, height, textTitle } = props
  const [word, change] = useCardParams(props.onlyKey)
  const isTable = word('as') === 'table'
  const canvas = useRef<HTMLCanvasElement | null>(null)
  const { data } = result
  const picture = (): void => {
    if (!canvas.current || !data) return
    const words = { title: textTitle, under: props.under(data), name: props.name }
    savePicture(words, chartBody(canvas.current, props.graphOf(data)))
  }
  return (
    <Card
      title={props.title}
      plainTitle={textTitle}
      class={props.class ?? ''}
      {...(props.place && { place: props.place })}
      about={props.about}
      tools={
        <>
          {props.tools}
          <TableButton isTable={isTable} onTurn={() => change('as', isTable ? null : 'table')} />
          <ExportMenu tables={props.tables} picture={isTable ? null : picture} />
        </>
      }
      foot={data !== undefined && props.foot?.(data)}
    >
      <QueryView result={result} height={height + (props.headHeight ?? 0)}>
        {(answer) => (
          <>
            {props.head?.(answer)}
            <Figure
              graph={props.graphOf(answer)}
              title={textTitle}
              isTable={isTable}
              height={height}
              nothing={props.nothing(answer)}
              onCanvas={(made) => {
                canvas.current = made
              }}
            />
          </>
        )}
      </QueryView>
      {props.children}
    </Card>
  )
}
