/** The menu that exports a card: CSV files, and what charts have beside them. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'

/** URLs of the CSV files. `csv` is the file of the card, `wide` has one column per series, `lastMonth` the last calendar month. `others`: files of the card’s other metrics. */
export type CsvUrls = {
  csv?: string
  wide?: string
  lastMonth?: string
  others?: readonly { title: string; url: string }[]
}

type ExportMenuProps = {
  csvUrls: CsvUrls
  savePng?: (() => void) | null
  /** What the menu exports, for screen readers; by default, its card. */
  of?: string
  /** Adds an item that opens the dialog of an annotation. */
  onAnnotate?: (() => void) | null
}

export const ExportMenu = ({
  csvUrls: { csv, wide, lastMonth, others = [] },
  savePng = null,
  onAnnotate = null,
  of,
}: ExportMenuProps): JSX.Element => (
  <Popover
    buttonClass="button plain icon"
    class="menu"
    title={of ? `Export ${of}` : onAnnotate ? 'Export and annotate' : 'Export'}
    label={<Icon name="download" />}
  >
    {(close) => (
      <>
        {csv && (
          <a class="item" href={csv} download onClick={close}>
            <Icon name="table" class="small-icon" /> {wide ? 'CSV, one row per figure' : 'CSV'}
          </a>
        )}
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
