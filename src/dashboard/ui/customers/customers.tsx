/** Who buys: found, listed. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'

export const Customers = (): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Customers</h1>
      </header>
    </main>
  </>
)
