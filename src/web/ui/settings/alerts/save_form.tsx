/** A form of a few fields whose button appears when something was changed. */
import type { ComponentChildren, JSX } from 'preact'
import { ErrorMessage } from '../../parts/error_message.tsx'

type SaveFormProps = {
  run: () => void
  isBusy: boolean
  isChanged: boolean
  problem: string | null
  children: ComponentChildren
}

export const SaveForm = ({ run, isBusy, isChanged, problem, children }: SaveFormProps): JSX.Element => (
  <form
    class="stack-s"
    onSubmit={(event) => {
      event.preventDefault()
      run()
    }}
  >
    {children}
    <ErrorMessage message={problem} />
    {isChanged && (
      <div class="row">
        <button type="submit" class="button main" disabled={isBusy}>
          Save
        </button>
        <span class="small quiet">Not saved yet</span>
      </div>
    )}
  </form>
)
