/** Shown instead of code that could not be loaded. */
import type { JSX } from 'preact'
import { Empty } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'

/** After an upgrade the server no longer has the files of the version that this tab runs. A reload gets the new ones. */
export const Unloaded = ({ what }: { what: string }): JSX.Element => (
  <Empty icon="offline" title={`${what} could not be loaded`}>
    <p>The connection is lost, or Windfall was upgraded while this page was open.</p>
    <button type="button" class="button main" onClick={() => location.reload()}>
      Reload
    </button>
  </Empty>
)

export const UnloadedView = (): JSX.Element => (
  <main class="page" id="content">
    <Title class="spoken">Reload needed</Title>
    <Unloaded what="This view" />
  </main>
)
