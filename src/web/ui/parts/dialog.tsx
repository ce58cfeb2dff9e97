/** Modal dialogs based on the native dialog element, which traps and restores focus. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Problem } from '../http.ts'
import { problemFrom } from '../queries.ts'
import { ErrorMessage } from './error_message.tsx'
import { Icon } from './icons.tsx'

type DialogProps = { title: string; onClose: () => void; isWide?: boolean; children: ComponentChildren }

export function Dialog({ title, onClose, isWide = false, children }: DialogProps): JSX.Element {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => box.current?.showModal(), [])
  return (
    <dialog ref={box} class={isWide ? 'sheet wide' : 'sheet'} aria-labelledby={id} onClose={onClose}>
      <div class="sheet-head">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="button plain icon"
          aria-label="Close"
          onClick={() => box.current?.close()}
        >
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  )
}

/** Runs an action and tracks its progress and error. */
export function useMutation(action: () => Promise<void>): {
  run: () => void
  isBusy: boolean
  problem: string | null
  /** The error with its code. */
  failure: Problem | null
} {
  const [isBusy, setBusy] = useState(false)
  const [failure, setRefusal] = useState<Problem | null>(null)
  const run = (): void => {
    setBusy(true)
    setRefusal(null)
    action()
      .catch((error: unknown) => setRefusal(problemFrom(error)))
      .finally(() => setBusy(false))
  }
  return { run, isBusy, problem: failure?.message ?? null, failure }
}

type ConfirmProps = {
  title: string
  children: ComponentChildren
  verb: string
  isDanger?: boolean
  /** False if the caller replaces the dialog after the action. */
  isClosedAfter?: boolean
  action: () => Promise<void>
  onClose: () => void
}

/** Asks for confirmation before an action and shows its error. */
export function Confirm({
  title,
  children,
  verb,
  isDanger = true,
  isClosedAfter = true,
  action,
  onClose,
}: ConfirmProps): JSX.Element {
  const { run, isBusy, problem } = useMutation(async () => {
    await action()
    if (isClosedAfter) onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack small">{children}</div>
      <ErrorMessage message={problem} />
      <div class="sheet-foot">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={isDanger ? 'button danger main' : 'button main'}
          disabled={isBusy}
          onClick={run}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  )
}
