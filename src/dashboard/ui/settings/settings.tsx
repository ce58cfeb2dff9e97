/** How this Windfall is set up, and what may be changed here. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'

export const Settings = (): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Settings</h1>
      </header>
    </main>
  </>
)
