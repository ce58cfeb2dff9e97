/** The owner's own headers of an endpoint. Stored values are not shown. */
import type { JSX } from 'preact'
import { Icon } from '../../../parts/icons.tsx'
import type { HeaderDraft } from './draft.ts'

const MAX_HEADERS = 10

type HeaderFieldsProps = {
  /** Null while the stored headers stay. */
  headers: HeaderDraft[] | null
  stored: readonly string[]
  error: string | undefined
  onChange: (headers: HeaderDraft[] | null) => void
}

type RowProps = { header: HeaderDraft; number: number; onChange: (header: HeaderDraft | null) => void }
const Row = ({ header, number, onChange }: RowProps): JSX.Element => (
  <div class="header-row">
    <input
      class="input slim"
      aria-label={`Name of header ${number}`}
      placeholder="Name"
      autocomplete="off"
      spellcheck={false}
      value={header.name}
      onInput={(event) => onChange({ ...header, name: event.currentTarget.value })}
    />
    <input
      class="input slim"
      aria-label={`Value of header ${number}`}
      placeholder="Value"
      autocomplete="off"
      spellcheck={false}
      value={header.value}
      onInput={(event) => onChange({ ...header, value: event.currentTarget.value })}
    />
    <button
      type="button"
      class="button plain icon"
      aria-label={`Remove header ${number}`}
      onClick={() => onChange(null)}
    >
      <Icon name="trash" />
    </button>
  </div>
)

export function HeaderFields({ headers, stored, error, onChange }: HeaderFieldsProps): JSX.Element {
  const rows = headers ?? []
  const changeRow = (at: number, header: HeaderDraft | null): void =>
    onChange(rows.flatMap((one, index) => (index !== at ? [one] : header === null ? [] : [header])))
  return (
    <fieldset class="plain-set stack-s choices">
      <legend class="small">Your own headers</legend>
      {headers === null ? (
        <div class="stack-s small">
          <p>
            Stored: <code>{stored.join(', ')}</code>. Their values are not shown.
          </p>
          <div>
            <button type="button" class="button" onClick={() => onChange([])}>
              Replace all
            </button>
          </div>
        </div>
      ) : (
        <>
          {rows.map((header, index) => (
            <Row
              key={index}
              header={header}
              number={index + 1}
              onChange={(changed) => changeRow(index, changed)}
            />
          ))}
          {stored.length > 0 && (
            <p class="small warn">
              These replace the stored headers ({stored.join(', ')}).{' '}
              <button type="button" class="button plain" onClick={() => onChange(null)}>
                Keep the stored ones
              </button>
            </p>
          )}
          {rows.length < MAX_HEADERS && (
            <div>
              <button
                type="button"
                class="button"
                onClick={() => onChange([...rows, { name: '', value: '' }])}
              >
                <Icon name="plus" /> Add header
              </button>
            </div>
          )}
        </>
      )}
      {error !== undefined && (
        <p class="small bad" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}
