/** Everything that happened, as it was told. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'

export const Events = (): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Events</h1>
      </header>
    </main>
  </>
)
