/** How much of Apple’s figures single transactions explain. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'

export const Coverage = (): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Coverage</h1>
      </header>
    </main>
  </>
)
