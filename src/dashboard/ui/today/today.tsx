/** What happened today. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'

export const Today = (): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Today</h1>
      </header>
    </main>
  </>
)
