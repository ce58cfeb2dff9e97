/** Dialogs and parts of views whose code loads when they are first shown. */
import type { FunctionComponent, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Unloaded } from './unloaded_view.tsx'

type Load<Props> = () => Promise<FunctionComponent<Props>>
/** `preload` begins to load the code before the component is shown, which tries again if that fails. */
type Late<Props> = FunctionComponent<Props> & { preload: () => Promise<void> }

/** A component that is empty until its code is there. `Missing` replaces it if the code cannot be loaded. */
function late<Props>(load: Load<Props>, Missing: FunctionComponent<Props>): Late<Props> {
  let loaded: FunctionComponent<Props> | null = null
  const ensureLoaded = async (): Promise<void> => {
    loaded ??= await load()
  }
  function LateComponent(props: Props): JSX.Element | null {
    const [Shown, setShown] = useState(() => loaded)
    useEffect(() => {
      if (Shown === null)
        void ensureLoaded().then(
          () => setShown(() => loaded),
          () => setShown(() => Missing),
        )
    }, [])
    return Shown && <Shown {...(props as Props & JSX.IntrinsicAttributes)} />
  }
  return Object.assign(LateComponent, { preload: () => ensureLoaded().catch(() => {}) })
}

/** A dialog that loads when it is first opened. `title` heads what is shown if that fails. */
export const lateDialog = <Props extends { onClose: () => void }>(title: string, load: Load<Props>) =>
  late<Props>(load, ({ onClose }) => (
    <Dialog title={title} onClose={onClose}>
      <Unloaded what="This dialog" />
    </Dialog>
  ))

/** A part of a view that loads when it is first shown. `what` says what is missing if that fails. */
export const latePart = <Props,>(what: string, load: Load<Props>) =>
  late<Props>(load, () => <Unloaded what={what} />)
