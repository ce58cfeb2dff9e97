/** A field that takes a key file: by drop, or by choosing it. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Icon } from '../../parts/icons.tsx'
import { FieldError } from '../../parts/text_field.tsx'

/** A key file that was read. */
export type DroppedKey = { name: string; text: string }

/** Apple's key files have less than 300 bytes. */
const MAX_BYTES = 10_000

/** Reads the only file of a list. Returns a text that says what is wrong otherwise. */
async function keyIn(files: readonly File[]): Promise<DroppedKey | string> {
  const [file, another] = files
  if (!file) return 'That was not a file. Drop the .p8 file that you downloaded from App Store Connect.'
  if (another) return 'Drop one file here, the key of this card.'
  if (file.size > MAX_BYTES)
    return `${file.name} is too large for a key: a .p8 file from Apple has less than 1 KB.`
  try {
    return { name: file.name, text: await file.text() }
  } catch {
    return `${file.name} cannot be read. A folder is not a key.`
  }
}

type DropKeyProps = {
  label: string
  example: string
  dropped: DroppedKey | null
  error: string | undefined
  onKey: (key: DroppedKey | null) => void
}

export function DropKey({ label, example, dropped, error, onKey }: DropKeyProps): JSX.Element {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (files: readonly File[]): Promise<void> => {
    const key = await keyIn(files)
    setProblem(typeof key === 'string' ? key : null)
    onKey(typeof key === 'string' ? null : key)
  }
  const message = problem ?? error
  return (
    <div class="stack-s">
      <label
        class={`drop ${isOver ? 'is-target' : ''} ${dropped ? 'is-full' : ''}`}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void take([...(event.dataTransfer?.files ?? [])])
        }}
      >
        <Icon name={dropped ? 'check' : 'key'} />
        <span class="strong">{dropped ? dropped.name : label}</span>
        <span class="small quiet">
          {dropped ? 'Drop another file to replace it' : `Drop ${example} here, or choose it`}
        </span>
        <input
          class="spoken"
          type="file"
          accept=".p8"
          aria-label={label}
          aria-invalid={message !== undefined}
          aria-describedby={message === undefined ? undefined : id}
          onChange={(event) => {
            const input = event.currentTarget
            void take([...(input.files ?? [])]).then(() => {
              input.value = ''
            })
          }}
        />
      </label>
      <FieldError id={id} message={message} />
    </div>
  )
}
