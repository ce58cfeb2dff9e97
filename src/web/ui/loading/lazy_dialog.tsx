/** Dialogs whose code loads when they first open, because views do not need it. */
import type { FunctionComponent, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Unloaded } from './unloaded_view.tsx'

type Closable = { onClose: () => void }

/**
 * A component that loads the dialog when it is first rendered, and asks for a reload if that fails.
 *
 * @param title of the dialog that asks for the reload
 */
export function lazyDialog<Props extends Closable>(
  title: string,
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | null = null
  const Missing = ({ onClose }: Closable): JSX.Element => (
    <Dialog title={title} onClose={onClose}>
      <Unloaded what="This dialog" />
    </Dialog>
  )
  return function LazyDialog(props: Props): JSX.Element | null {
    const [Shown, setShown] = useState<FunctionComponent<Props> | null>(() => loaded)
    useEffect(() => {
      if (loaded) return
      void load().then(
        (component) => {
          loaded = component
          setShown(() => component)
        },
        () => setShown(() => Missing),
      )
    }, [])
    return Shown && <Shown {...props} />
  }
}
